-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Skips a lease whose row is locked. reap checks ended workers with calls in flight again.
create or replace function postrider_internal.requeue(p_worker int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_moved int;
  v_left int;
begin
  with mine as materialized (
    select r.ctid as spot from postrider_internal.ready r where r.worker = p_worker),
  picked as materialized (
    select r.ctid as spot from mine m join postrider_internal.ready r on r.ctid = m.spot
      where r.worker = p_worker for update of r skip locked),
  gone as (
    delete from postrider_internal.ready r using picked p where r.ctid = p.spot returning r.*),
  again as (
    insert into postrider_internal.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at,
                                          parent_id, has_callbacks, tried)
    select nextval('postrider.jobs_id_seq'), o.job_id, o.track, o.attempt - 1, o.max_attempts, o.rekey, o.at_most_once,
           o.expires_at, o.parent_id, o.has_callbacks, o.tried
      from (select * from gone g order by g.track, g.seq) o)
  select (select count(*) from gone), (select count(*) from mine) - (select count(*) from picked) into v_moved, v_left;
  update postrider_internal.workers w set in_flight = v_left where w.id = p_worker and w.in_flight <> v_left;
  if v_moved > 0 then
    perform postrider_internal.notify_idle_workers();
  end if;
  return v_moved;
end
$$;
comment on function postrider_internal.requeue(int) is
  'makes leases of an ended worker that were never called ready again and returns how many';
