-- SPDX-License-Identifier: Apache-2.0
-- Two heartbeats may lie more than 6.8 s apart, or the second may lie before the first. Then this worker was absent,
-- and it cannot judge which other workers were silent. A settle that takes its full 6 s has a heartbeat right before it
-- and leaves no gap.
--
-- synchronous_commit: a heartbeat that a crash of the server loses is followed by another one. So it does not wait for
-- the disk.
--
-- p_wal: the end of the WAL on disk at the last heartbeat. If the WAL of the database ends before that, the database
-- was set back to an earlier state.
--
-- p_waiting: number of results that the database has refused, with their age and their jobs.
--
-- p_judgements: number of answers that wait for the judging session, the age of the oldest in p_judging_ms, and jobs
-- among them.
create or replace function postrider_internal.beat(
  p_worker int, p_in_flight int, p_draining boolean, p_idle boolean, p_start uuid default null, p_wal bigint default 0,
  p_waiting int default 0, p_waiting_ms bigint default null, p_waiting_jobs bigint[] default null,
  p_judgements int default 0, p_judging_ms bigint default null, p_judging_jobs bigint[] default null)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_alive boolean;
begin
  if not postrider_internal.is_identified() or pg_current_wal_flush_lsn() - '0/0' < p_wal then
    return false;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  update postrider_internal.workers
     set heartbeat_at = clock_timestamp(), in_flight = p_in_flight, draining = p_draining,
         results_waiting = p_waiting, results_waiting_since = clock_timestamp() - p_waiting_ms * interval '1 ms',
         waiting_jobs = p_waiting_jobs,
         judgements_waiting = p_judgements, judgements_since = clock_timestamp() - p_judging_ms * interval '1 ms',
         judging_jobs = p_judging_jobs,
         steady_since = case when heartbeat_at between clock_timestamp() - interval '6.8 s'
           and clock_timestamp() + interval '5 s'
                             then steady_since else clock_timestamp() end
   where id = p_worker and ended_at is null and (p_start is null or start_id = p_start);
  v_alive := found;
  if v_alive and p_idle and (select g.last_value from postrider_internal.idle_gate g) = 1 then
    perform postrider_internal.set_idle(p_worker, true);
  end if;
  return v_alive;
end
$$;
comment on function postrider_internal.beat(int, int, boolean, boolean, uuid, bigint, int, bigint, bigint[], int,
                                            bigint, bigint[]) is
  'heartbeat of a worker, every 3 s; false: it was declared lost or the database was restored; it must enlist again';
