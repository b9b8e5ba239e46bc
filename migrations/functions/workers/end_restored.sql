-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Ends all state about workers in a restored database, in the transaction of the first worker that enlists there.
--
-- Fences and worker numbers start again at the values of the backup, while workers may still hold higher ones from
-- before. So both sequences are raised to the clock: fences to microseconds since 1970, worker numbers to seconds since
-- 2020. Both grow more slowly than the clock, so no value repeats. The same holds for the epoch of the leader.
--
-- Job ids start again as well, and Idempotency-Keys contain them. So jobs above the highest id of the backup get keys
-- with a new first part. early_inserts holds the jobs that clients have inserted since the restore. The ids of a
-- transaction that is still open are also above the highest id of the backup.
--
-- Such a transaction may commit its row of early_inserts after the deletion here. So a row that was recorded after an
-- older identity does not count.
create or replace function postrider_internal.end_restored(p_name text, out lost_leases int, out unknown_jobs int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_real record;
  v_workers int[];
  v_clock constant bigint := (extract(epoch from clock_timestamp()) * 1000000)::bigint;
begin
  -- A claim in progress shares the lock of its worker's number, so this waits for it.
  perform pg_advisory_xact_lock(1886351474, w.id)
     from (select w.id from postrider_internal.workers w where w.ended_at is null order by w.id) w;
  update postrider_internal.workers w set ended_at = clock_timestamp(), lost = true, in_flight = 0
    where w.ended_at is null;
  v_workers := array(select r.worker from postrider_internal.ready r where r.worker > 0
                     union select w.id from postrider_internal.workers w where w.in_flight > 0);
  delete from postrider_internal.idle_workers;
  perform postrider_internal.close_idle_gate();
  update postrider_internal.leases l set owner = 0, until = '-infinity', epoch = greatest(l.epoch + 1, v_clock);
  select e.gone, e.unknown into lost_leases, unknown_jobs
    from postrider_internal.end_leases(v_workers, v_workers, null,
      'the database was restored while the call was under way; it is not known whether the server acted on it') e;
  delete from postrider_internal.aborts;
  delete from postrider_internal.lane_permits;
  perform setval('postrider_internal.fences', greatest(f.last_value + 1, v_clock)) from postrider_internal.fences f;
  perform setval('postrider_internal.workers_id_seq', greatest(w.last_value + 1, v_clock / 1000000 - 1577836800))
    from postrider_internal.workers_id_seq w;
  select * into v_real from postrider_internal.current_identity();
  insert into postrider_internal.identities (above_id, system_identifier, timeline, database_oid, workers_oid, found_by,
                                             lost_leases, unknown_jobs)
  select coalesce(max(j.id), 0), v_real.system_identifier, v_real.timeline, v_real.database_oid, v_real.workers_oid,
         p_name, end_restored.lost_leases, end_restored.unknown_jobs
    from postrider.jobs j
   where j.id < (select coalesce(min(e.first_id), 9223372036854775807) from postrider_internal.early_inserts e
                  where e.after_identity = (select max(i.number) from postrider_internal.identities i));
  delete from postrider_internal.early_inserts;
  perform postrider_internal.notify_idle_workers();
end
$$;
comment on function postrider_internal.end_restored(text) is
  'ends all workers and leases of a restored database, stores its identity, and counts lost leases and unknown jobs';
