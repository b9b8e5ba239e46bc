-- SPDX-License-Identifier: Apache-2.0
-- Services, credentials and callbacks that a job names must exist when it is inserted. For a member that expand
-- inserts, this was checked with its batch. If one of them was deleted since, the member ends like any other job: with
-- error_code config, or with an error of its callback. All other rules are checked for such members, too.
create or replace function postrider_internal.job_defect(p_job postrider.jobs, out column_name text, out reason text,
                                                         out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad text;
  v_service postrider.services;
  v_url text;
  v_has_no_base boolean := false;
  v_most bigint;
  v_bytes bigint;
  v_is_new boolean := not postrider_internal.is_being_expanded(p_job.parent_id);
begin
  select d.c, 'must not be null', 'Leave it out for its default.' into column_name, reason, hint from (values
    (p_job.kind is null, 'kind'), (p_job.queue is null, 'queue'), (p_job.priority is null, 'priority'),
    (p_job.run_at is null, 'run_at'), (p_job.max_attempts is null, 'max_attempts'),
    (p_job.delivery is null, 'delivery'), (p_job.on_duplicate is null, 'on_duplicate'),
    (p_job.method is null, 'method'), (p_job.use_cdn is null, 'use_cdn'),
    (p_job.login_required is null, 'login_required'), (p_job.response_format is null, 'response_format'),
    (p_job.result_type is null, 'result_type'), (p_job.cache_version is null, 'cache_version'),
    (p_job.ignore_cache is null, 'ignore_cache'), (p_job.mode is null, 'mode'), (p_job.notify is null, 'notify'),
    (p_job.created_at is null, 'created_at'), (p_job.created_by is null, 'created_by')
  ) as d(bad, c)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;

  select d.c, d.r, d.h into column_name, reason, hint from (values
    (p_job.kind not in ('request', 'batch', 'chain'),
     'kind', 'must be request, batch or chain', 'A single call is a request, the default.'),
    (p_job.position not between 0 and 1000000000,
     'position', format('%s is out of range', p_job.position),
     'Give 0 or more, or leave it out for the next free one.'),
    (p_job.run_if is not null and p_job.parent_id is null,
     'run_if', 'is for steps of a chain', 'Leave it out, or give parent_id.'),
    (p_job.position is not null and p_job.parent_id is null,
     'position', 'is for members of a batch or chain', 'Leave it out, or give parent_id.'),
    (p_job.name = '' or length(p_job.name) > 200,
     'name', 'must have 1 to 200 characters', 'Templates refer to a job by this name.'),
    (p_job.queue = '' or length(p_job.queue) > 200,
     'queue', 'must have 1 to 200 characters', 'Leave it out for the queue default.'),
    (p_job.lane = '' or length(p_job.lane) > 300,
     'lane', 'must have 1 to 300 characters',
     'Leave it out and the service''s name is taken, else the host:port of the URL.'),
    (not postrider_internal.is_priority(p_job.priority),
     'priority', format('%s is out of range', p_job.priority), 'Give -100 to 100; low is -4, normal 0, high 4.'),
    (not isfinite(p_job.created_at),
     'created_at', 'must be a point in time', 'Leave it out for now.'),
    (not isfinite(p_job.run_at),
     'run_at', 'must be a point in time', 'Leave it out to run at once.'),
    -- A deadline that has just passed is valid: the job ends as expired. No transaction or clock difference explains
    -- more than an hour.
    (p_job.expires_at < now() - interval '1 hour' and p_job.parent_id is null,
     'expires_at', 'is more than an hour in the past',
     'Give a later time, or leave it out; check the time zone of the value.'),
    (p_job.expires_at <= p_job.run_at and p_job.run_at > now(),
     'expires_at', 'is not after run_at', 'Give a later time, or leave it out.'),
    (extract(epoch from p_job.timeout) <= 0 or extract(epoch from p_job.timeout) > 86400,
     'timeout', format('%s is not a usable limit', p_job.timeout),
     'Give more than 0 and at most 1 day, like ''30 s''.'),
    (p_job.max_attempts not between 1 and 1000,
     'max_attempts', format('%s is out of range', p_job.max_attempts), 'Give 1 (no retry) to 1000.'),
    (cardinality(p_job.backoff) not between 1 and 100 or array_ndims(p_job.backoff) > 1
       or exists (select from unnest(p_job.backoff) b where b is null or b < interval '0' or b > interval '30 days'),
     'backoff', 'must hold 1 to 100 waits between 0 and 30 days',
     'Like array[''5 s'', ''1 min'', ''10 min'']::interval[].'),
    (not postrider_internal.is_tag(p_job.tag),
     'tag', format('has %s characters', length(p_job.tag)), 'At most 400; the rest may stand in metadata.'),
    (p_job.metadata is not null and not postrider_internal.is_storable_json(p_job.metadata),
     'metadata', 'is longer than 64 MiB when it is written out', 'Keep large data in a table of your own.'),
    (p_job.delivery not in ('at_least_once', 'at_most_once'),
     'delivery', 'must be at_least_once or at_most_once', 'at_most_once is for calls that must never be repeated.'),
    (length(p_job.dedupe_key) not between 1 and 1000,
     'dedupe_key', 'must have 1 to 1000 characters', 'Leave it out, or give a hash of it.'),
    (p_job.on_duplicate not in ('error', 'skip'),
     'on_duplicate', 'must be error or skip', 'Leave it out for error.'),
    (upper(p_job.method collate "C") not in ('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
     'method', 'is not a method that can be sent',
     'Give GET, POST, HEAD, PUT, DELETE, PATCH or OPTIONS.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;

  select d.c, format('there is no callback %s', quote_literal(d.n)),
         'Ask the owner of the schema to insert it into postrider.callbacks.'
    into column_name, reason, hint
    from (values (p_job.on_success, 'on_success'), (p_job.on_failure, 'on_failure')) as d(n, c)
   where v_is_new and d.n is not null and not exists (select from postrider.callbacks b where b.name = d.n) limit 1;
  if column_name is not null then
    return;
  end if;
  if p_job.parent_id is not null or p_job.each is not null then
    select d.column_name, d.reason, d.hint into column_name, reason, hint
      from postrider_internal.job_template_defect(p_job) d;
    if column_name is not null then
      return;
    end if;
  end if;
  if p_job.callback_url is not null then
    select 'callback_url', d.reason, d.hint into column_name, reason, hint
      from postrider_internal.url_defect(p_job.callback_url) d
     where d.reason is not null;
    if column_name is not null then
      return;
    end if;
  end if;

  if p_job.service is not null then
    select * into v_service from postrider.services s where s.name = p_job.service;
    if not found and v_is_new then
      column_name := 'service';
      reason := format('there is no service %s', quote_literal(p_job.service));
      hint := 'Insert it into postrider.services first.';
      return;
    end if;
  end if;
  if v_is_new and p_job.credential <> 'none'
    and not exists (select from postrider.credentials c where c.name = p_job.credential) then
    column_name := 'credential';
    reason := format('there is no credential %s', quote_literal(p_job.credential));
    hint := 'Insert it into postrider.credentials first.';
    return;
  end if;
  if p_job.kind <> 'request' then
    select d.column_name, d.reason, d.hint into column_name, reason, hint from postrider_internal.tree_defect(p_job) d;
    return;
  end if;

  if v_service.base_url is null and v_service.name is not null then
    select t.base_url into v_service.base_url
      from postrider_internal.server_routes t where t.service = v_service.name order by t.position limit 1;
  end if;
  if v_is_new and p_job.login_required and postrider_internal.used_credential(p_job.credential, v_service.credential)
    is null then
    column_name := 'login_required';
    reason := case when p_job.credential = 'none' then 'the job is to have no credential'
      else 'the job has no credential, and neither has its service' end;
    hint := 'Give credential, or set services.credential; jobs with one need a login anyway.';
    return;
  end if;
  if v_is_new and p_job.use_cdn and v_service.cdn_url is null then
    column_name := 'use_cdn';
    reason := 'the job has no service with a cdn_url';
    hint := 'Set services.cdn_url, or leave use_cdn out.';
    return;
  end if;
  if p_job.url like '//%' then
    column_name := 'url';
    reason := 'names a host and no scheme';
    hint := 'Write https: before it, or give a path.';
    return;
  end if;
  v_url := postrider_internal.job_url(
    case when p_job.parent_id is not null then postrider_internal.template_sample(p_job.url)
      else p_job.url end, p_job.use_cdn, v_service);
  if v_url is not null and p_job.service is not null and not postrider_internal.url_is_absolute(v_url) then
    v_has_no_base := true;
    if v_is_new then
      column_name := 'url';
      reason := 'is relative, and the service has neither a base_url nor servers';
      hint := 'Set services.base_url, insert into servers, or give an absolute URL.';
      return;
    end if;
  end if;
  select 'url', d.reason, d.hint into column_name, reason, hint from postrider_internal.url_defect(v_url) d
   where d.reason is not null and not v_has_no_base;
  if column_name is not null then
    return;
  end if;

  v_bad := postrider_internal.pairs_defect(p_job.query);
  if v_bad is not null then
    column_name := 'query';
    reason := v_bad;
    hint := 'Give an object like {"limit": 10, "tag": ["a", "b"]}.';
    return;
  end if;

  select 'headers', d.reason, d.hint into column_name, reason, hint
    from postrider_internal.headers_defect(p_job.headers) d
   where d.reason is not null;
  if column_name is not null then
    return;
  end if;

  select 'body_form', d.reason, d.hint into column_name, reason, hint
    from postrider_internal.form_defect(p_job.body_form) d
   where d.reason is not null;
  if column_name is not null then
    return;
  end if;

  select 'body_parts', d.reason, d.hint into column_name, reason, hint
    from postrider_internal.parts_defect(p_job.body_parts) d
   where d.reason is not null;
  if column_name is not null then
    return;
  end if;

  select d.c, d.r, d.h into column_name, reason, hint from (values
    (num_nonnulls(p_job.body, p_job.body_json, p_job.body_form, p_job.body_parts) > 1,
     case when p_job.body is not null then 'body' when p_job.body_json is not null then 'body_json'
       else 'body_form' end,
     'there is more than one body', 'Give at most one of body, body_json, body_form, body_parts.'),
    (p_job.body_parts is not null and jsonb_path_exists(
       p_job.headers, '$.keyvalue() ? (@.key like_regex "^content-type$" flag "i")'),
     'headers', 'hold a Content-Type, and body_parts have their own',
     'Leave it out: multipart/form-data and its boundary are set by the worker; the type of a part stands in its key type.'),
    (p_job.download_to is not null and jsonb_path_exists(
       p_job.headers, '$.keyvalue() ? (@.key like_regex "^(if-)?range$" flag "i" && exists(@.value[*]))'),
     'headers', 'hold Range or If-Range, which a download sets itself',
     'Leave it out; a download that broke off goes on where it was. For a part of a file leave download_to out.'),
    (p_job.method = 'HEAD' and p_job.download_to is not null,
     'download_to', 'the answer to a HEAD request has no body', 'Give GET as method, or leave download_to out.'),
    (p_job.method = 'HEAD' and num_nonnulls(p_job.body, p_job.body_json, p_job.body_form, p_job.body_parts) > 0,
     case when p_job.body is not null then 'body' when p_job.body_json is not null then 'body_json'
          when p_job.body_form is not null then 'body_form' else 'body_parts' end,
     'a HEAD request has no body', 'Leave it out, or choose another method.'),
    (isempty(p_job.ok_statuses) or not p_job.ok_statuses <@ '{[100,600)}'::int4multirange,
     'ok_statuses', 'must hold statuses between 100 and 599', 'Like ''{[200,300),[404,405)}''.'),
    (p_job.max_redirects not between 0 and 10,
     'max_redirects', format('%s is out of range', p_job.max_redirects),
     'Give 0 to 10, or leave it out for 5; 0 makes the 3xx itself the answer.'),
    (postrider_internal.path_defect(p_job.download_to) is not null,
     'download_to', postrider_internal.path_defect(p_job.download_to),
     'Give a path below the worker''s --files directory, like reports/today.csv.'),
    (p_job.download_to ~ E'\\.part(\\.meta(\\.new)?)?$',
     'download_to', 'ends like what is left of a download that broke off', 'Choose a name without .part at its end.'),
    (p_job.sha256 !~* '^[0-9a-f]{64}$',
     'sha256', 'is not a SHA-256 in hex', 'Give 64 hexadecimal digits.'),
    (p_job.sha256 is not null and p_job.download_to is null,
     'sha256', 'is for downloads', 'Give download_to, or leave it out.'),
    (p_job.download_to is null and not postrider_internal.is_response_limit(p_job.max_response),
     'max_response', format('%s is out of range', p_job.max_response), 'Give 0 to 67108864 bytes (64 MiB).'),
    (p_job.cache_ttl <= interval '0' or p_job.cache_ttl > interval '100 years',
     'cache_ttl', 'must be more than 0 and at most 100 years', 'Like ''10 min''; leave it out and nothing is cached.'),
    (p_job.cache_ttl is not null and p_job.url ~ '^[A-Za-z]+:/*[^/?#]*@',
     'cache_ttl', 'cannot be used with a user or password in the URL',
     'Send them in an Authorization header; then answers are kept for its sender alone.'),
    (p_job.cache_ttl is not null and jsonb_path_exists(p_job.body_parts, '$[*].file'),
     'cache_ttl', 'cannot be used with a part that is a file',
     'The cache cannot see whether the file has changed; give its content, or leave cache_ttl out.'),
    (length(p_job.cache_sensitive) > 1000,
     'cache_sensitive', 'must have at most 1000 characters', 'Give a hash of it.'),
    (p_job.cache_ttl is null and p_job.ignore_cache,
     'ignore_cache', 'is for jobs with cache_ttl',
     'Give cache_ttl, how long the answer may serve others, or leave it out.'),
    (p_job.mode <> 'all', 'mode', 'is for batches', 'Leave it out.'),
    (p_job.max_parallel is not null, 'max_parallel', 'is for batches', 'Leave it out.'),
    (p_job.each is not null, 'each', 'is for batches', 'Leave it out.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;

  if v_is_new and postrider_internal.is_small_body(p_job) is not true then
    v_most := (select s.max_request_body from postrider.settings s);
    v_bytes := postrider_internal.body_bytes(p_job, v_most);
    if v_bytes > v_most then
      column_name := case when p_job.body is not null then 'body' when p_job.body_json is not null then 'body_json'
                          when p_job.body_form is not null then 'body_form' else 'body_parts' end;
      reason := format('has %s bytes or more as it is sent, and %s are allowed (settings.max_request_body)', v_bytes,
                       v_most);
      hint := 'Send it as a file of body_parts, or have an admin raise the setting.';
      return;
    end if;
  end if;

  if p_job.paginate is not null then
    select 'paginate', d.reason, d.hint into column_name, reason, hint from postrider_internal.page_defect(p_job) d
     where d.reason is not null;
    if column_name is not null then
      return;
    end if;
  end if;

  if p_job.response_format <> 'raw' or p_job.result_type <> 'any' or p_job.require_data
     or num_nonnulls(p_job.validator, p_job.extract) > 0 then
    select d.column_name, d.reason, d.hint into column_name, reason, hint
      from postrider_internal.answer_defect(p_job) d;
  end if;
end
$$;
comment on function postrider_internal.job_defect(postrider.jobs) is
  'the first column of a job that breaks a rule, the reason and a hint; nulls: valid';
