-- SPDX-License-Identifier: Apache-2.0
-- A trigger instead of a CHECK, because the error of a CHECK quotes the whole row, including the password of a proxy.
--
-- If the credential of a service was deleted, its jobs fail. A change of other columns must still succeed, also the
-- change of has_servers when a server is deleted.
create or replace function postrider_internal.services_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_judged postrider.services := new;
  v_column text;
  v_reason text;
  v_hint text;
begin
  if tg_op = 'UPDATE' and new.credential = old.credential then
    v_judged.credential := null;
  end if;
  select d.column_name, d.reason, d.hint into v_column, v_reason, v_hint
    from postrider_internal.service_defect(v_judged) d;
  perform postrider_internal.raise_column_error('services', v_column, v_reason, v_hint);
  return new;
end
$$;
comment on function postrider_internal.services_check() is
  'row trigger of services: refuses invalid values with the name of their column';

create or replace trigger services_check
  before insert or update on postrider.services
  for each row execute function postrider_internal.services_check();
