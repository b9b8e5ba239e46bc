-- SPDX-License-Identifier: Apache-2.0
-- Uses no query, because starting one for each object would take 20 to 50 µs. Two headers take 3 µs. It appends one
-- element at a time, which PostgreSQL does in place. A concatenation of arrays copies all elements.
create or replace function postrider_internal.pairs(p_object jsonb) returns text[]
language plpgsql immutable strict parallel safe
as $$
declare
  v_members jsonb := jsonb_path_query_array(p_object, '$.keyvalue()');
  v_key text;
  v_value jsonb;
  v_pairs text[] := '{}';
begin
  for i in 0 .. jsonb_array_length(v_members) - 1 loop
    v_key := v_members -> i ->> 'key';
    v_value := v_members -> i -> 'value';
    if jsonb_typeof(v_value) = 'array' then
      for k in 0 .. jsonb_array_length(v_value) - 1 loop
        v_pairs := array_append(v_pairs, v_key);
        v_pairs := array_append(v_pairs, coalesce(v_value ->> k, ''));
      end loop;
    else
      v_pairs := array_append(v_pairs, v_key);
      v_pairs := array_append(v_pairs, coalesce(v_value #>> '{}', ''));
    end if;
  end loop;
  return v_pairs;
end
$$;
comment on function postrider_internal.pairs(jsonb) is
  'name, value, name, value, ... of an object; an array repeats its name for each element';
