-- SPDX-License-Identifier: Apache-2.0
-- Follows form_pairs without building its names.
create or replace function postrider.form_size(p_form jsonb) returns numeric
language sql immutable strict parallel safe
as $$
  with recursive walk(name_size, value) as (
    select octet_length(e.key), e.value from jsonb_each(p_form) e
    union all
    select w.name_size + 2 + octet_length(inner_part.key), inner_part.value
      from walk w
     cross join lateral (
           select o.key, o.value from jsonb_each(case when jsonb_typeof(w.value) = 'object' then w.value end) o
           union all
           select '', a.value
             from jsonb_array_elements(case when jsonb_typeof(w.value) = 'array' then w.value end) a) as inner_part
  )
  select coalesce(sum(w.name_size::bigint + octet_length(coalesce(w.value #>> '{}', ''))), 0)
    from walk w
   where jsonb_typeof(w.value) not in ('object', 'array')
$$;
comment on function postrider.form_size(jsonb) is
  'private: how many bytes the names and values of a form have together, as form_pairs gives them';
