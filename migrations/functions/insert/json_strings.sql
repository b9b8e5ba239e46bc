-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.json_strings(p_json jsonb) returns setof text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select s.value #>> '{}' from jsonb_path_query(p_json, 'strict $.** ? (@.type() == "string")') as s(value)
$$;
comment on function postrider_internal.json_strings(jsonb) is
  'all text values of a JSON at any depth, without its keys';
