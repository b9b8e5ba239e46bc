-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.request_defect(
  p_job postrider.jobs, out column_name text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad text;
begin
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
     'headers', 'hold a Content-Type, but body_parts set their own',
     'Leave it out: the worker sets it with the boundary. Give the type of a part in its key type.'),
    (p_job.download_to is not null and jsonb_path_exists(
       p_job.headers, '$.keyvalue() ? (@.key like_regex "^(if-)?range$" flag "i" && exists(@.value[*]))'),
     'headers', 'hold Range or If-Range, which a download sets itself',
     'Leave it out: an interrupted download resumes. For a part of a file, leave out download_to.'),
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
    (postrider_internal.file_path_defect(p_job.download_to) is not null,
     'download_to', postrider_internal.file_path_defect(p_job.download_to),
     'Give a path below the worker''s --files directory, like reports/today.csv.'),
    (p_job.download_to ~ E'\\.part(\\.meta(\\.new)?)?$',
     'download_to', 'ends like the name of an unfinished download', 'Choose a name without .part at its end.'),
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
     'Send them in an Authorization header instead.'),
    (p_job.cache_ttl is not null and jsonb_path_exists(p_job.body_parts, '$[*].file'),
     'cache_ttl', 'cannot be used with a part that is a file',
     'The cache does not check files for changes; give the content, or leave cache_ttl out.'),
    (length(p_job.cache_sensitive) > 1000,
     'cache_sensitive', 'must have at most 1000 characters', 'Give a hash of it.'),
    (p_job.cache_ttl is null and p_job.ignore_cache,
     'ignore_cache', 'is for jobs with cache_ttl',
     'Give cache_ttl, or leave ignore_cache out.'),
    (p_job.mode <> 'all', 'mode', 'is for batches', 'Leave it out.'),
    (p_job.max_parallel is not null, 'max_parallel', 'is for batches', 'Leave it out.'),
    (p_job.each is not null, 'each', 'is for batches', 'Leave it out.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
end
$$;
comment on function postrider_internal.request_defect(postrider.jobs) is
  'the first broken rule about the content of a request and its options; nulls: none';
