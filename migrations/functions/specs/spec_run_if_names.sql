-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.spec_run_if_names(p_run_if text) returns text[]
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
begin
  return postrider_internal.run_if_names(p_run_if::jsonpath);
exception when others then
  -- INSERT refuses it with a reason.
  return null;
end
$$;
comment on function postrider_internal.spec_run_if_names(text) is
  'the steps that a run_if of a spec names; null if it is not a jsonpath';
