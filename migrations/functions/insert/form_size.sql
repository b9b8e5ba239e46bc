-- SPDX-License-Identifier: Apache-2.0
-- Follows form_pairs without building its names. Each byte that is not unreserved (RFC 3986, 2.3) is sent as three, a
-- space as one. The brackets around an inner name also take three bytes each.
create or replace function postrider_internal.form_size(p_form jsonb) returns numeric
language sql immutable strict parallel safe
as $$
  with recursive walk(name_size, value) as (
    select postrider_internal.encoded_size(e.key), e.value from jsonb_each(p_form) e
    union all
    select w.name_size + 6 + postrider_internal.encoded_size(inner_part.key), inner_part.value
      from walk w
     cross join lateral (
           select o.key, o.value from jsonb_each(case when jsonb_typeof(w.value) = 'object' then w.value end) o
           union all
           select '', a.value
             from jsonb_array_elements(case when jsonb_typeof(w.value) = 'array' then w.value end) a) as inner_part
  )
  select coalesce(sum(w.name_size::bigint + 2 + postrider_internal.encoded_size(coalesce(w.value #>> '{}', ''))) - 1, 0)
    from walk w
   where jsonb_typeof(w.value) not in ('object', 'array')
$$;
comment on function postrider_internal.form_size(jsonb) is 'how many bytes a form has as it is sent, percent-encoded';
