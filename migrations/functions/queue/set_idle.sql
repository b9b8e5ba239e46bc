-- SPDX-License-Identifier: Apache-2.0
-- If two workers change at the same moment, the gate may stay closed although one of them listens. The next heartbeat
-- opens it again. Until then the poll of the worker finds jobs within 250 ms.
create or replace function postrider_internal.set_idle(p_worker int, p_idle boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_idle then
    insert into postrider_internal.idle_workers (worker) values (p_worker) on conflict do nothing;
    perform setval('postrider_internal.idle_gate', 2);
  else
    delete from postrider_internal.idle_workers where worker = p_worker;
    perform postrider_internal.close_idle_gate();
  end if;
end
$$;
comment on function postrider_internal.set_idle(int, boolean) is
  'registers whether INSERTs into jobs should notify this worker; after registering, the worker claims once more';
