-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.page_key_defect(p_spec jsonb, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_text text;
  v_bad text;
begin
  for v_key, v_value in select * from jsonb_each(p_spec) loop
    v_text := v_value #>> '{}';
    case
      when v_key = 'next' and v_text like 'header:%' then
        v_bad := case when v_text !~ '^header:[A-Za-z0-9!#$%&''*+.^_`|~-]{1,200}$'
          then 'is not the name of a header' end;
        hint := 'Like "header:X-Next-Cursor".';
      when v_key in ('items', 'next') then
        begin
          v_bad := case when jsonb_typeof(v_value) = 'string' then postrider_internal.jsonpath_defect(v_text::jsonpath)
                        else 'is not a jsonpath' end;
        exception when others then
          v_bad := 'is not a jsonpath';
        end;
        hint := format('Give a jsonpath as text, like "$.%s".', case v_key when 'items' then 'data.list'
                       else 'meta.next' end);
      when v_key = 'style' then
        v_bad := case when jsonb_typeof(v_value) <> 'string' or v_text not in ('page', 'offset', 'cursor', 'link')
                      then 'is not a style' end;
        hint := 'Give page, offset, cursor or link.';
      when v_key = 'in' then
        v_bad := case when jsonb_typeof(v_value) <> 'string' or v_text not in ('query', 'body', 'header')
                      then 'is not a place in a request' end;
        hint := 'Give query, body or header; leave it out for query.';
      when v_key = 'end_statuses' then
        v_bad := case when jsonb_typeof(v_value) <> 'array' or jsonb_array_length(v_value) not between 1 and 50
                        or exists (select from jsonb_array_elements(v_value) e
                                    where jsonb_typeof(e) <> 'number' or (e #>> '{}') !~ '^[2-5][0-9]{2}$'
                                       or (e #>> '{}') in ('200', '401', '429'))
                      then 'is not a list of statuses that can end a list' end;
        hint := 'Like [204, 404]; 200, 401 and 429 are not allowed.';
      when v_key in ('param', 'size_param') then
        v_bad := case when jsonb_typeof(v_value) <> 'string' or length(v_text) not between 1 and 200
                      then 'is not the name of an argument' end;
        hint := format('Like {"%s": "%s"}.', v_key, case v_key when 'param' then 'page' else 'limit' end);
      when v_key = 'size' then
        v_bad := case when jsonb_typeof(v_value) <> 'number' or v_text !~ '^[0-9]{1,7}$'
          or v_text::int not between 1 and 1000000
                      then 'is not a number of items' end;
        hint := 'Give the number of items of a full page, 1 to 1000000.';
      when v_key = 'max_pages' then
        v_bad := case when jsonb_typeof(v_value) <> 'number' or v_text !~ '^[0-9]{1,5}$'
          or v_text::int not between 1 and 10000
                      then 'is not a number of pages' end;
        hint := 'Give 1 to 10000; leave it out for 1000.';
      when v_key = 'on_limit' then
        v_bad := case when jsonb_typeof(v_value) <> 'string' or v_text not in ('fail', 'stop')
          then 'is neither fail nor stop' end;
        hint := 'With stop the job succeeds with the pages up to max_pages; leave it out for fail.';
      when v_key = 'start' and (p_spec ->> 'style') = 'cursor' then
        v_bad := case when jsonb_typeof(v_value) in ('boolean', 'null') or length(v_text) > 4000
          then 'is not a cursor' end;
        hint := 'Give the cursor of the first page, or leave it out.';
      when v_key = 'start' then
        v_bad := case when jsonb_typeof(v_value) <> 'number' or v_text !~ '^[0-9]{1,9}$'
          then 'is not a whole number' end;
        hint := 'Give the first page''s number or offset; leave it out for page 1, offset 0.';
      else
        reason := format('$%s is not a key of paginate', postrider_internal.json_path_key(left(v_key, 100)));
        hint := 'The keys are style, param, in, start, size_param, size, items, next, end_statuses, max_pages and on_limit.';
        return;
    end case;
    if v_bad is not null then
      reason := format('$.%s %s', v_key, v_bad);
      return;
    end if;
  end loop;
  hint := null;
end
$$;
comment on function postrider_internal.page_key_defect(jsonb) is
  'the first key of a paginate object that is unknown or has an unusable value; nulls: none';
