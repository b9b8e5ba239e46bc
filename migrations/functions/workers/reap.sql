-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Declares a worker lost after 10 s without a heartbeat, so its jobs run again.
--
-- The advisory lock does not wait. A worker with a claim in progress is checked again in the next round. The lock is
-- tried in a separate step. The planner sorts conditions by cost and would try the lock first, also for healthy
-- workers, and their claims would fail meanwhile.
--
-- Silence counts only if some other worker was present all the while: a worker with heartbeats without a gap for 10 s.
-- An outage may affect all workers: a server that was down, a lock on this table, a machine that stood still, a clock
-- set ahead. Then no worker qualifies, and all have 10 s after the first one returns.
--
-- If a heartbeat lies ahead, the clock was set back since. It counts as a heartbeat of this moment.
--
-- A locked row delays no other row; for example, an open transaction may have cancelled a running job. The worker keeps
-- calls in flight and the place of the row, which is checked again each time. No index leads from a worker to its rows.
-- A search among three million ready rows takes 0.5 s in the session of the heartbeat.
create or replace function postrider_internal.reap(p_worker int, p_epoch bigint)
returns table (lost_worker int, lost_name text, jobs int)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_lost int[];
  v_ended int[];
  v_sought int[];
  v_gone bigint;
  v_counts int[];
  v_error constant text := 'the worker that made the call died or hung; it is not known whether the server acted on it';
begin
  if not postrider_internal.leads(p_worker, p_epoch) then
    return;
  end if;
  update postrider_internal.workers w set heartbeat_at = clock_timestamp(), steady_since = clock_timestamp()
   where w.ended_at is null and w.heartbeat_at > clock_timestamp() + interval '5 s';
  with silent as materialized (
    select w.id
      from postrider_internal.workers w
     where w.ended_at is null and w.heartbeat_at < clock_timestamp() - interval '10 s'
       and exists (
             select from postrider_internal.workers o
              where o.ended_at is null and o.steady_since <= clock_timestamp() - interval '10 s'
                and o.heartbeat_at > clock_timestamp() - interval '5 s')),
  alone as materialized (
    select s.id from silent s where pg_try_advisory_xact_lock(1886351474, s.id)),
  fenced as (
    update postrider_internal.workers w set ended_at = clock_timestamp(), lost = true, in_flight = 0
      from alone a
     where w.id = a.id and w.ended_at is null and w.heartbeat_at < clock_timestamp() - interval '10 s'
    returning w.id)
  select array_agg(f.id) into v_lost from fenced f;
  select v_lost || array_agg(w.id), v_lost || array_agg(w.id) filter (where w.locked_seqs is null)
    into v_ended, v_sought
    from postrider_internal.workers w where w.ended_at is not null and w.in_flight > 0;
  if v_ended is null then
    return;
  end if;
  if v_lost is not null then
    delete from postrider_internal.idle_workers i where i.worker = any (v_lost);
    perform postrider_internal.close_idle_gate();
  end if;
  select e.counts, e.gone into v_counts, v_gone
    from postrider_internal.end_leases(v_ended, v_sought, v_lost, v_error) e;
  delete from postrider_internal.lane_permits m where m.worker = any (v_lost);
  return query
  select w.id, w.name, l.jobs
    from unnest(v_lost, v_counts) as l(id, jobs) join postrider_internal.workers w on w.id = l.id;
  if v_lost is not null or v_gone > 0 then
    perform postrider_internal.notify_idle_workers();
  end if;
end
$$;
comment on function postrider_internal.reap(int, bigint) is
  'leader: declares silent workers lost and makes their jobs ready again or final; returns one row for each worker';
