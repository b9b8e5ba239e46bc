-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.close_idle_gate() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from postrider_internal.idle_workers) then
    perform setval('postrider_internal.idle_gate', 1);
  end if;
end
$$;
comment on function postrider_internal.close_idle_gate() is
  'stops notifications when no idle worker is registered for them';
