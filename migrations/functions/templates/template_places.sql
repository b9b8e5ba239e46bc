-- SPDX-License-Identifier: Apache-2.0
-- In PL/pgSQL, which keeps its plans. A function in SQL that is not inlined is planned for each call (100 µs).
create or replace function postrider_internal.template_places(p_json jsonb, out path text[],
                                                              out value text) returns setof record
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  with recursive walk(path, value) as (
    select '{}'::text[], p_json where position('{{' in p_json::text) > 0
    union all
    select w.path || c.key, c.value
      from walk w
     cross join lateral (
           select o.key, o.value from jsonb_each(case when jsonb_typeof(w.value) = 'object' then w.value end) o
            union all
           select (a.place - 1)::text, a.value
             from jsonb_array_elements(case when jsonb_typeof(w.value) = 'array'
                                       then w.value end) with ordinality as a(value, place)) c
     where position('{{' in c.value::text) > 0
  )
  select w.path, w.value #>> '{}' from walk w where jsonb_typeof(w.value) = 'string';
end
$$;
comment on function postrider_internal.template_places(jsonb) is
  'the texts of a JSON that hold {{, each with its path; keys are never templates';
