-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan
-- A transaction may have read a track before its removal: an INSERT, a retry, or a chain that goes on. As long as it
-- stays open, it may commit rows with the number of that track. No survey finds these rows. This function moves them to
-- track 0, and make_tracks does the rest.
--
-- Leased rows stay until their call has ended, because their worker finishes them by the number.
--
-- A number can be deleted from removed_tracks after three steps. Each step is a transaction after the one before, so it
-- sees every row whose transaction the earlier step waited for.
--
-- 1. The removal has committed: store the transactions that are open. Their transaction numbers alone are not enough. A
--   repeatable read may take its snapshot before the removal and get its number later, but each has a virtual number.
--   Prepared transactions have a number, and their virtual one changes with a restart.
-- 2. All of these transactions have ended.
-- 3. No row has such a number. A later transaction can write the number only from a row that it deletes. That row stays
--   visible here until the transaction has ended.
create or replace function postrider_internal.move_jobs_of_removed_tracks(p_limit int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_mergejoin = off
as $$
declare
  v_under_way text[];
  v_now pg_snapshot;
  v_moved int;
  v_rescheduled int;
begin
  select array_agg(l.virtualtransaction) into v_under_way
    from pg_catalog.pg_locks l
    left join pg_catalog.pg_stat_get_activity(null) a on a.pid = l.pid
   where l.locktype = 'virtualxid' and l.virtualxid = l.virtualtransaction and l.pid is distinct from pg_backend_pid()
     and (a.datid = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())) is not false;
  v_now := pg_current_snapshot();

  with numbers as materialized (
    select u.track from postrider_internal.removed_tracks d cross join lateral unnest(d.tracks) u (track)),
  lost as materialized (
    select n.track, r.seq
      from numbers n
     cross join lateral (
           select x.seq from postrider_internal.ready x where x.track = n.track and x.worker = 0
             order by x.track, x.seq limit p_limit) r
     limit p_limit),
  held as materialized (
    select r.ctid as spot
      from (select l.track, l.seq from lost l order by l.track, l.seq) l
     cross join lateral (
           select x.ctid from postrider_internal.ready x
             where x.track = l.track and x.seq = l.seq and x.worker = 0 for update skip locked) r)
  update postrider_internal.ready r set track = 0 where r.ctid = any (array(select h.spot from held h));
  get diagnostics v_moved = row_count;

  with numbers as materialized (
    select u.track from postrider_internal.removed_tracks d cross join lateral unnest(d.tracks) u (track)),
  held as materialized (
    select s.spot
      from numbers n
     cross join lateral (
           select x.ctid as spot from postrider_internal.scheduled x
             where x.track = n.track limit p_limit for update skip locked) s
     limit p_limit)
  update postrider_internal.scheduled s set track = 0 where s.ctid = any (array(select h.spot from held h));
  get diagnostics v_rescheduled = row_count;

  delete from postrider_internal.removed_tracks d
   where d.is_past
     and not exists (
           select from unnest(d.tracks) u (track)
            where exists (select from postrider_internal.ready r where r.track = u.track offset 0)
               or exists (select from postrider_internal.scheduled s where s.track = u.track offset 0))
     -- fold looks up the queue of ended jobs by these numbers.
     and not exists (
           select from postrider_internal.job_deltas y cross join lateral unnest(y.tracks) e (track)
             join unnest(d.tracks) u (track) on u.track = e.track);
  update postrider_internal.removed_tracks d set is_past = true
   where not d.is_past and d.horizon <= pg_snapshot_xmin(v_now) and not coalesce(d.transactions && v_under_way, false);
  update postrider_internal.removed_tracks d set horizon = pg_snapshot_xmax(v_now),
    transactions = coalesce(v_under_way, '{}')
   where d.horizon is null;
  return v_moved + v_rescheduled;
end
$$;
comment on function postrider_internal.move_jobs_of_removed_tracks(int) is
  'moves up to p_limit rows each of ready and scheduled from removed tracks to track 0; returns how many';
