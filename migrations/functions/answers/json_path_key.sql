-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.json_path_key(p_key text) returns text
language sql immutable parallel safe
as $$
  select '.' || case when p_key ~ '^[A-Za-z_][A-Za-z0-9_]*$' then p_key else to_json(p_key)::text end
$$;
comment on function postrider_internal.json_path_key(text) is 'a key as a step of a JSON path, quoted if necessary';
