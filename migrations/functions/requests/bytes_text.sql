-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.bytes_text(p_body bytea) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return convert_from(p_body, 'UTF8');
exception when character_not_in_repertoire or untranslatable_character then
  return p_body::text;
end
$$;
comment on function postrider_internal.bytes_text(bytea) is
  'a body as text if it is UTF-8, otherwise in hex, as PostgreSQL writes it';
