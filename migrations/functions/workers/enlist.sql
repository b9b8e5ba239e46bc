-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, nested-loops
-- Registers a worker, also each time after it lost the connection that claims. The new number takes over the leases
-- that the worker still holds. A claim of the old number may have taken rows without its response reaching the worker.
-- These rows become ready again without a counted attempt, because no call was made.
--
-- A later claim with the old number fails, because the number has ended. The advisory lock waits for a claim in
-- progress. Another transaction may lock a leased row for more than a second, for example because it has cancelled the
-- job. Such a lease is left to reap, and is lost if the job is not cancelled after all.
--
-- If the response of an earlier enlist was lost, the worker passes a number that has ended. Its leases then belong to a
-- number that the worker never received. The uuid of its start and the fences identify it.
--
-- A worker number alone does not identify a worker, because after a restore another worker may have it. So the worker
-- passes the identity of the database that it remembers, and its own start. If one of them differs, it takes over
-- nothing.
--
-- The first worker that finds another database than the newest identity describes ends all leases there (end_restored).
-- Other workers wait for it and then see the new identity.
--
-- Two kinds of restore keep all four parts of the identity: a copy of the data folder started without recovery, and a
-- snapshot of a file system. In this case the WAL ends before a place that the worker knows to be durable, or the row
-- of its number has another start.
--
-- held: the seq of each lease that it keeps. keys: the first part of Idempotency-Keys for jobs above each keys_above.
create or replace function postrider_internal.enlist(
  p_old int, p_name text, p_version text, p_queues text[], p_concurrency int, p_tracks int[], p_seqs bigint[],
  p_environment text default 'release', p_fences bigint[] default null, p_start uuid default null,
  p_identity uuid default null,
  p_wal bigint default 0)
returns table (
  worker int, installation uuid, idempotency_header text, held bigint[],
  identity uuid, keys_above bigint[], keys text[], lost_leases int, unknown_jobs int, judge_timeout_ms int)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
#variable_conflict use_variable
declare
  v_worker int;
  v_held bigint[] := '{}';
  v_identity uuid;
begin
  if not postrider_internal.is_identified()
    or postrider_internal.is_restored_copy(p_old, p_start, p_identity, p_wal) then
    perform pg_advisory_xact_lock(1886351474, -2);
    if not postrider_internal.is_identified()
      or postrider_internal.is_restored_copy(p_old, p_start, p_identity, p_wal) then
      select e.lost_leases, e.unknown_jobs into lost_leases, unknown_jobs
        from postrider_internal.end_restored(p_name) e;
      perform postrider_internal.is_identified();
    end if;
  end if;
  -- Read after the lock of the old number is taken. end_restored of another worker holds that lock while it stores a
  -- new identity.
  if p_old > 0 then
    perform pg_advisory_xact_lock(1886351474, p_old);
  end if;
  select i.id into v_identity from postrider_internal.identities i order by i.number desc limit 1;
  if v_identity is distinct from p_identity then
    p_old := 0;
  end if;
  if p_old > 0 then
    if exists (select from postrider_internal.workers w
               where w.id = p_old and w.ended_at is not null and not w.lost) then
      select coalesce(max(r.worker), p_old) into p_old
        from unnest(p_tracks, p_seqs, p_fences) as h(track, seq, fence)
       cross join lateral (
             select r.worker from postrider_internal.ready r
               where r.track = h.track and r.seq = h.seq and r.fence = h.fence offset 0) r
        join postrider_internal.workers w on w.id = r.worker and w.start_id = p_start and w.ended_at is null;
      perform pg_advisory_xact_lock(1886351474, p_old);
    end if;
    update postrider_internal.workers w set ended_at = clock_timestamp(), in_flight = 0
      where w.id = p_old and w.ended_at is null;
    delete from postrider_internal.idle_workers i where i.worker = p_old;
    perform postrider_internal.close_idle_gate();
  end if;
  insert into postrider_internal.workers (name, version, queues, concurrency, environment, start_id)
  values (p_name, p_version, p_queues, p_concurrency, p_environment, p_start)
  returning id into v_worker;
  if p_old > 0 then
    begin
      perform from (select h.track, h.seq from unnest(p_tracks, p_seqs) as h(track, seq) order by h.track, h.seq) h
        cross join lateral (
              select from postrider_internal.ready r
                where r.track = h.track and r.seq = h.seq and r.worker = p_old for update) r;
    exception when lock_not_available then
      null;
    end;
    with mine as materialized (
      select r.spot
        from unnest(p_tracks, p_seqs) as h(track, seq)
       cross join lateral (
             select r.ctid as spot from postrider_internal.ready r
              where r.track = h.track and r.seq = h.seq and r.worker = p_old for update skip locked) r),
    moved as (
      update postrider_internal.ready r set worker = v_worker from mine m where r.ctid = m.spot returning r.seq)
    select coalesce(array_agg(m.seq), '{}') into v_held from moved m;
    perform postrider_internal.requeue(p_old);
    update postrider_internal.aborts a set worker = v_worker where a.worker = p_old;
    update postrider_internal.lane_permits m set worker = v_worker where m.worker = p_old;
    update postrider_internal.leases l set owner = v_worker where l.owner = p_old;
  end if;
  return query
  select v_worker, s.installation, s.idempotency_header, v_held, v_identity, k.above, k.keys, lost_leases, unknown_jobs,
         postrider_internal.milliseconds(s.judge_timeout)
    from postrider.settings s
   cross join (
         select array_agg(i.above_id order by i.number) as above, array_agg(i.id::text order by i.number) as keys
           from postrider_internal.identities i where i.number > 1) k;
end
$$;
comment on function postrider_internal.enlist(int, text, text, text[], int, int[], bigint[], text, bigint[], uuid, uuid,
                                              bigint) is
  'gives a worker a new number and its old leases, and returns the settings of the fleet and the facts about restores';
