-- SPDX-License-Identifier: Apache-2.0
-- run_at, expires_at, parent_id, position and name are left out, because an operation cannot have them. Headers are
-- merged, so they do not count either.
create or replace function postrider_internal.given_columns(p_job postrider.jobs) returns text[]
language plpgsql immutable
as $$
begin
  return array_remove(array[
    case when p_job.queue <> 'default' then 'queue' end, case when p_job.lane is not null then 'lane' end,
    case when p_job.priority <> 0 then 'priority' end, case when p_job.timeout is not null then 'timeout' end,
    case when p_job.max_attempts <> 5 then 'max_attempts' end, case when p_job.backoff is not null then 'backoff' end,
    case when p_job.delivery <> 'at_least_once' then 'delivery' end,
    case when p_job.dedupe_key is not null then 'dedupe_key' end,
    case when p_job.on_duplicate <> 'error' then 'on_duplicate' end,
    case when p_job.service is not null then 'service' end, case when p_job.method <> 'GET' then 'method' end,
    case when p_job.url is not null then 'url' end, case when p_job.use_cdn then 'use_cdn' end,
    case when p_job.query is not null then 'query' end, case when p_job.body is not null then 'body' end,
    case when p_job.body_json is not null then 'body_json' end,
    case when p_job.body_form is not null then 'body_form' end,
    case when p_job.body_parts is not null then 'body_parts' end,
    case when p_job.max_redirects is not null then 'max_redirects' end,
    case when p_job.credential is not null then 'credential' end,
    case when p_job.login_required then 'login_required' end,
    case when p_job.response_format <> 'raw' then 'response_format' end,
    case when p_job.ok_statuses is not null then 'ok_statuses' end,
    case when p_job.max_response is not null then 'max_response' end,
    case when p_job.decode is not null then 'decode' end,
    case when p_job.use_envelope is not null then 'use_envelope' end,
    case when p_job.validator is not null then 'validator' end, case when p_job.extract is not null then 'extract' end,
    case when p_job.result_type <> 'any' then 'result_type' end,
    case when p_job.require_data is not null then 'require_data' end,
    case when p_job.download_to is not null then 'download_to' end,
    case when p_job.sha256 is not null then 'sha256' end, case when p_job.rules is not null then 'rules' end,
    case when p_job.cache_ttl is not null then 'cache_ttl' end,
    case when p_job.cache_version <> 0 then 'cache_version' end,
    case when p_job.cache_sensitive is not null then 'cache_sensitive' end,
    case when p_job.ignore_cache then 'ignore_cache' end, case when p_job.paginate is not null then 'paginate' end,
    case when p_job.on_success is not null then 'on_success' end,
    case when p_job.on_failure is not null then 'on_failure' end,
    case when p_job.callback_url is not null then 'callback_url' end, case when p_job.notify then 'notify' end,
    case when p_job.tag is not null then 'tag' end, case when p_job.metadata is not null then 'metadata' end], null);
end
$$;
comment on function postrider_internal.given_columns(postrider.jobs) is
  'the columns of a row that differ from their defaults and that an operation may have too';
