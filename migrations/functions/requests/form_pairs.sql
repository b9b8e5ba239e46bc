-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.form_pairs(p_form jsonb) returns text[]
language sql immutable strict parallel safe
as $$
  with recursive walk(name, value, path) as (
    select e.key, e.value, array[e.place]
      from jsonb_each(p_form) with ordinality as e(key, value, place)
    union all
    select w.name || '[' || inner_part.key || ']', inner_part.value, w.path || inner_part.place
      from walk w
     cross join lateral (
           select o.key, o.value, o.place
             from jsonb_each(case when jsonb_typeof(w.value) = 'object'
                             then w.value end) with ordinality as o(key, value, place)
           union all
           select '', a.value, a.place
             from jsonb_array_elements(case when jsonb_typeof(w.value) = 'array' then w.value end)
                  with ordinality as a(value, place)) as inner_part
  )
  select coalesce(array_agg(part order by w.path, side), '{}')
    from walk w
   cross join lateral (values (1, w.name), (2, coalesce(w.value #>> '{}', ''))) as s(side, part)
   where jsonb_typeof(w.value) not in ('object', 'array')
$$;
comment on function postrider_internal.form_pairs(jsonb) is
  'name, value, name, value, ... of a form; members of objects are named a[b], elements of arrays a[]';
