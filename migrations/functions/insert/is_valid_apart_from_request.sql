-- SPDX-License-Identifier: Apache-2.0
-- after: insert/is_storable_json.sql, insert/is_plain_url.sql
-- PostgreSQL inlines this function into is_valid_with_service and is_valid_with_operation.
create or replace function postrider_internal.is_valid_apart_from_request(p_job postrider.jobs) returns boolean
language sql stable parallel safe
as $$
  select p_job.kind = 'request' and p_job.notify is not null
     and postrider_internal.is_priority(p_job.priority) and p_job.max_attempts between 1 and 1000
     and length(p_job.queue) between 1 and 200
     and (p_job.lane is null or length(p_job.lane) between 1 and 300)
     and (p_job.name is null or length(p_job.name) between 1 and 200)
     and (p_job.position is null or p_job.parent_id is not null and p_job.position between 0 and 1000000000)
     and isfinite(p_job.run_at) and (p_job.expires_at is null or p_job.expires_at > greatest(p_job.run_at, now()))
     and (p_job.timeout is null or extract(epoch from p_job.timeout) > 0 and extract(epoch from p_job.timeout) <= 86400)
     and p_job.delivery in ('at_least_once', 'at_most_once')
     and p_job.on_duplicate in ('error', 'skip') and p_job.mode = 'all' and p_job.cache_version is not null
     and (p_job.cache_sensitive is null or length(p_job.cache_sensitive) <= 1000)
     and (p_job.dedupe_key is null or length(p_job.dedupe_key) between 1 and 1000)
     and isfinite(p_job.created_at) and p_job.created_by is not null
     and postrider_internal.is_tag(p_job.tag) is not false
     and (p_job.traceparent is null or postrider_internal.is_traceparent(p_job.traceparent))
     and (p_job.tracestate is null
          or p_job.traceparent is not null and postrider_internal.is_tracestate(p_job.tracestate))
     and (p_job.metadata is null or postrider_internal.is_storable_json(p_job.metadata))
     and (p_job.callback_url is null or p_job.callback_url not like '%{{%'
          and postrider_internal.is_plain_url(p_job.callback_url)
            and postrider_internal.is_plain_host(split_part(p_job.callback_url, '/', 3)))
     and num_nonnulls(p_job.run_if, p_job.max_parallel, p_job.each) = 0
$$;
comment on function postrider_internal.is_valid_apart_from_request(postrider.jobs) is
  'whether the columns that say when, where and how often a job runs are valid by quick checks';
