-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.pairs(p_object jsonb) returns text[]
language sql immutable strict parallel safe
as $$
  select coalesce(array_agg(part order by e.place, v.place, side), '{}')
    from jsonb_each(p_object) with ordinality as e(key, value, place)
   cross join lateral jsonb_path_query(e.value, 'lax $[*]') with ordinality as v(value, place)
   cross join lateral (values (1, e.key), (2, coalesce(v.value #>> '{}', ''))) as s(side, part)
$$;
comment on function postrider.pairs(jsonb) is
  'private: name, value, name, value, ... of an object; an array gives its name once for each element';
