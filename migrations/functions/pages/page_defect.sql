-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.page_defect(p_job postrider.jobs, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb := p_job.paginate;
  v_style text := v_spec ->> 'style';
  v_in text := v_spec ->> 'in';
  v_names text[];
  v_body_defect text;
begin
  if v_spec is null then
    return;
  elsif jsonb_typeof(v_spec) <> 'object' then
    reason := '$ must be an object';
    hint := 'Like {"style": "page", "param": "page", "size_param": "limit", "size": 100, "items": "$.data.list"}.';
    return;
  end if;

  select d.* into reason, hint from postrider_internal.page_key_defect(v_spec) d;
  if reason is not null then
    return;
  end if;
  v_names := array[v_spec ->> 'param', v_spec ->> 'size_param'];
  if v_in = 'body' and p_job.body_json is not null then
    v_body_defect := postrider_internal.page_body_defect(v_spec, p_job.body_json, p_job.parent_id is not null);
  end if;

  select d.r, d.h into reason, hint from (values
    (v_style is null,
     '$.style is missing', 'Give page, offset, cursor or link.'),
    (v_style <> 'link' and not v_spec ? 'param',
     '$.param is missing', format('Name the argument that takes the %s, like {"style": "%s", "param": "%s"}.', v_style,
                                  v_style, v_style)),
    (v_style = 'link' and v_spec ?| '{param,start}',
     case when v_spec ? 'param' then '$.param'
       else '$.start' end || ' is not for style link', 'The link itself is the next URL.'),
    (v_style = 'link' and v_spec ? 'in',
     '$.in is not for style link', 'A link is called as the server wrote it.'),
    (v_style = 'cursor' and not v_spec ? 'next',
     '$.next is missing', 'Give the path of the next cursor in the answer, like "$.meta.next", or its header, like "header:X-Next".'),
    (v_spec ? 'size_param' and not v_spec ? 'size',
     '$.size is missing', 'size_param names the argument that carries size.'),
    (v_spec ->> 'param' = v_spec ->> 'size_param',
     '$.size_param is the same as $.param', 'Name two different arguments.'),
    (postrider_internal.page_argument(v_spec, p_job.url, p_job.query) is not null,
     'sets an argument that url or query has already', 'Leave it out there; start and size set its first value.'),
    (v_in = 'header' and (postrider_internal.headers_defect(jsonb_build_object(coalesce(v_names[1], 'X'), 'x'))).reason
     is not null,
     '$.param is not the name of a header that a job may set', 'Like "X-Cursor".'),
    (v_in = 'header' and (postrider_internal.headers_defect(jsonb_build_object(coalesce(v_names[2], 'X'), 'x'))).reason
     is not null,
     '$.size_param is not the name of a header that a job may set', 'Like "X-Page-Size".'),
    (v_in = 'header' and (postrider_internal.headers_defect(jsonb_build_object('X',
        coalesce(v_spec ->> 'start', '')))).reason is not null,
     '$.start is not one line of text', 'A header is one line.'),
    (v_in = 'header' and exists (
       select from jsonb_object_keys(coalesce(p_job.headers, '{}')) h
         where lower(h collate "C") in (lower(v_names[1] collate "C"), lower(v_names[2] collate "C"))),
     'sets a header that headers has already', 'Leave it out there; start and size set its first value.'),
    (v_in = 'body' and postrider_internal.page_path(v_names[1]) is null,
     '$.param is not the path of a key',
     'Like "variables.after"; quote a key with other characters, like $."page-token".'),
    (v_in = 'body' and v_spec ? 'size_param' and postrider_internal.page_path(v_names[2]) is null,
     '$.size_param is not the path of a key',
     'Like "variables.first"; quote a key with other characters, like $."page-size".'),
    (v_in = 'body' and postrider_internal.page_path(v_names[1]) = postrider_internal.page_path(v_names[2]),
     '$.size_param is the same as $.param', 'Name two different places.'),
    (v_in = 'body' and p_job.body_json is null,
     '$.in is body, and the job has no body_json', 'Give body_json; if it has no other keys, give {}.'),
    (v_body_defect is not null,
     v_body_defect, 'Leave it out there, or set it to null; start and size set its first value.'),
    (p_job.kind <> 'request',
     format('is for requests, and this is a %s', p_job.kind),
     'Set it on the members that fetch pages.'),
    (p_job.method = 'HEAD',
     'needs items, but an answer to HEAD has no body', 'Use GET.'),
    (p_job.download_to is not null,
     'needs the answers in the database, but download_to writes them to a file', 'Leave one of them out.'),
    (p_job.cache_ttl is not null,
     'cannot be used with cache_ttl', 'Cached pages of different ages do not make one list; leave one of them out.'),
    (p_job.response_format = 'xml',
     'is for JSON, and response_format is xml', 'Leave one of them out.'),
    (p_job.result_type = 'object',
     'gives a list, and result_type is object', 'Leave result_type out.'),
    (p_job.extract is not null and v_spec ? 'items',
     '$.items and extract both say where the items are', 'Leave one of them out.')
  ) as d(bad, r, h)
  where d.bad limit 1;
end
$$;
comment on function postrider_internal.page_defect(postrider.jobs) is
  'why the paginate of a job is refused, with the path, and a hint; nulls: valid';
