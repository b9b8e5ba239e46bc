-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.leave(p_worker int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_moved int;
begin
  perform pg_advisory_xact_lock(1886351474, p_worker);
  update postrider_internal.workers w set ended_at = clock_timestamp(), in_flight = 0
    where w.id = p_worker and w.ended_at is null;
  delete from postrider_internal.idle_workers i where i.worker = p_worker;
  perform postrider_internal.close_idle_gate();
  update postrider_internal.leases l set until = '-infinity' where l.owner = p_worker;
  v_moved := postrider_internal.requeue(p_worker);
  -- After the rows, because a cancel that held one of them has written its abort by then.
  delete from postrider_internal.aborts a where a.worker = p_worker;
  delete from postrider_internal.lane_permits m where m.worker = p_worker;
  return v_moved;
end
$$;
comment on function postrider_internal.leave(int) is
  'ends a worker that has handed back its jobs; its leases without a call become ready; returns how many';
