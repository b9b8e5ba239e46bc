-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.jsonpath_text_defect(p_path text) returns text
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
begin
  return postrider_internal.jsonpath_defect(p_path::jsonpath);
exception when others then
  if postrider_internal.is_transient_error(sqlstate) then
    raise;
  end if;
  return 'is not a jsonpath';
end
$$;
comment on function postrider_internal.jsonpath_text_defect(text) is
  'why a text cannot be used as a jsonpath; null: valid';
