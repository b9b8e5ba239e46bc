-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.path_text_defect(p_path text) returns text
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
begin
  return postrider.jsonpath_defect(p_path::jsonpath);
exception when others then
  if postrider.is_transient_error(sqlstate) then
    raise;
  end if;
  return 'is not a jsonpath';
end
$$;
comment on function postrider.path_text_defect(text) is 'private: why a text cannot be used as a jsonpath; null for a good one';
