-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.page_defect(p_job postrider.jobs, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb := p_job.paginate;
  v_style text := v_spec ->> 'style';
  v_key text;
  v_value jsonb;
  v_text text;
  v_bad text;
begin
  if v_spec is null then
    return;
  elsif jsonb_typeof(v_spec) <> 'object' then
    reason := '$ must be an object';
    hint := 'Like {"style": "page", "param": "page", "size_param": "limit", "size": 100, "items": "$.data.list"}.';
    return;
  end if;

  for v_key, v_value in select * from jsonb_each(v_spec) loop
    v_text := v_value #>> '{}';
    case
      when v_key in ('items', 'next') then
        begin
          v_bad := case when jsonb_typeof(v_value) = 'string' then postrider.jsonpath_defect(v_text::jsonpath)
                        else 'is not a jsonpath' end;
        exception when others then
          v_bad := 'is not a jsonpath';
        end;
        hint := format('Give a jsonpath as text, like "$.%s".', case v_key when 'items' then 'data.list' else 'meta.next' end);
      when v_key = 'style' then
        v_bad := case when jsonb_typeof(v_value) <> 'string' or v_text not in ('page', 'offset', 'cursor', 'link')
                      then 'is not a style' end;
        hint := 'Give page, offset, cursor or link.';
      when v_key in ('param', 'size_param') then
        v_bad := case when jsonb_typeof(v_value) <> 'string' or length(v_text) not between 1 and 200
                      then 'is not the name of an argument' end;
        hint := format('Like {"%s": "%s"}.', v_key, case v_key when 'param' then 'page' else 'limit' end);
      when v_key = 'size' then
        v_bad := case when jsonb_typeof(v_value) <> 'number' or v_text !~ '^[0-9]{1,7}$' or v_text::int not between 1 and 1000000
                      then 'is not a number of items' end;
        hint := 'Give 1 to 1000000, how many items a full page has.';
      when v_key = 'max_pages' then
        v_bad := case when jsonb_typeof(v_value) <> 'number' or v_text !~ '^[0-9]{1,5}$' or v_text::int not between 1 and 10000
                      then 'is not a number of pages' end;
        hint := 'Give 1 to 10000; leave it out for 1000.';
      when v_key = 'on_limit' then
        v_bad := case when jsonb_typeof(v_value) <> 'string' or v_text not in ('fail', 'stop') then 'is neither fail nor stop' end;
        hint := 'With stop the job succeeds with what max_pages brought; leave it out for fail.';
      when v_key = 'start' and v_style = 'cursor' then
        v_bad := case when jsonb_typeof(v_value) not in ('string', 'number') then 'is not a cursor' end;
        hint := 'Give the cursor of the first page as text, or leave it out.';
      when v_key = 'start' then
        v_bad := case when jsonb_typeof(v_value) <> 'number' or v_text !~ '^[0-9]{1,9}$' then 'is not a whole number' end;
        hint := 'Give the first page''s number or offset; leave it out for page 1, offset 0.';
      else
        reason := format('$%s is not a key of paginate', postrider.json_path_key(left(v_key, 100)));
        hint := 'The keys are style, param, start, size_param, size, items, next, max_pages and on_limit.';
        return;
    end case;
    if v_bad is not null then
      reason := format('$.%s %s', v_key, v_bad);
      return;
    end if;
  end loop;
  hint := null;

  select d.r, d.h into reason, hint from (values
    (v_style is null,
     '$.style is missing', 'Give page, offset, cursor or link.'),
    (v_style <> 'link' and not v_spec ? 'param',
     '$.param is missing', format('Name the argument that takes the %s, like {"style": "%s", "param": "%s"}.', v_style, v_style, v_style)),
    (v_style = 'link' and v_spec ?| '{param,start}',
     case when v_spec ? 'param' then '$.param' else '$.start' end || ' is not for style link', 'A link says itself what is called next.'),
    (v_style = 'cursor' and not v_spec ? 'next',
     '$.next is missing', 'Give the path of the next cursor in the answer, like "$.meta.next".'),
    (v_spec ? 'size_param' and not v_spec ? 'size',
     '$.size is missing', 'size_param names the argument that carries size.'),
    (v_spec ->> 'param' = v_spec ->> 'size_param',
     '$.size_param is the same as $.param', 'They name two arguments.'),
    (postrider.page_argument(v_spec, p_job.url, p_job.query) is not null,
     'sets an argument that url or query has already', 'Leave it out there; start and size say how it begins.'),
    (p_job.kind <> 'request',
     format('is for requests, and this is a %s', p_job.kind), 'Give it to the members whose answers come page by page.'),
    (p_job.method = 'HEAD',
     'asks for items, and the answer to HEAD has none', 'Use GET.'),
    (p_job.download_to is not null,
     'asks to read the answers, and download_to puts them into a file', 'Leave one of them out.'),
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
comment on function postrider.page_defect(postrider.jobs) is
  'private: why a job''s paginate is refused, with the path of the place, and what would be right; nulls for a good one';
