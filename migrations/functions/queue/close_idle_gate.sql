-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.close_idle_gate() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from postrider.idle_workers) then
    perform setval('postrider.idle_gate', 1);
  end if;
end
$$;
comment on function postrider.close_idle_gate() is 'private: stops notifications when no worker wants them any more';
