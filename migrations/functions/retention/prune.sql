-- SPDX-License-Identifier: Apache-2.0
-- One step of a pass through all ranges. A full range whose newest job is past its retention is dropped. A full range
-- with a newer last job is left alone, because it will be dropped as a whole soon.
--
-- In the other ranges 5,000 ids in a step are checked, and jobs past their retention are deleted. These are the range
-- that fills, the overflow, and a range that must keep too many jobs.
--
-- If a user's table has a foreign key to jobs or results, no range is dropped. PostgreSQL refuses that even if the key
-- has a rule for DELETE.
--
-- So an installation with fewer than a million jobs within the retention deletes rows, and a larger one drops ranges.
-- At the end of a pass it deletes rows of workers that ended before all remaining jobs, acts of admins from before that
-- time, and cache counters of deleted services.
--
-- Before all this it prepares a large overflow for the next range. Reading its rows has no time limit in this session.
create or replace function postrider_internal.prune(p_worker int, p_epoch bigint, out jobs bigint, out dropped text,
                                                    out wait_ms bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_cursor postrider_internal.prune_cursor;
  v_ended timestamptz;
  v_failed timestamptz;
  v_range record;
  v_newest timestamptz;
  v_after bigint;
  v_is_referenced boolean;
begin
  jobs := 0;
  if not postrider_internal.leads(p_worker, p_epoch) then
    return;
  end if;
  -- Older settings may hold thousands of years, which now mean the same as null: no limit. No timestamp goes back so
  -- far.
  select case when s.retention <= interval '100 years' then now() - s.retention else '-infinity' end,
         case when s.failed_retention <= interval '100 years' then now() - s.failed_retention else '-infinity' end,
         extract(epoch from greatest(interval '10 s',
                                     least(interval '10 min', s.retention / 20, s.failed_retention / 20))) * 1000
    into v_ended, v_failed, wait_ms
    from postrider.settings s;
  begin
    if postrider_internal.bound_overflow() then
      wait_ms := 0;
      return;
    end if;
  exception when lock_not_available then
    -- For example, an open transaction has read jobs. The next step tries again.
    null;
  end;
  if postrider_internal.prune_leftovers(5000) > 0 then
    wait_ms := 0;
  end if;
  v_is_referenced := exists (select from postrider_internal.referencing_tables());
  select * into v_cursor from postrider_internal.prune_cursor for update;
  for v_range in
    select r.part, r.first_id, r.end_id, coalesce(r.end_id <= s.last_value, false) as is_full
      from postrider_internal.job_ranges() r cross join postrider.jobs_id_seq s
     where v_cursor.part is null
        or coalesce(r.end_id, 9223372036854775807)
           >= (select coalesce(m.end_id, 9223372036854775807) from postrider_internal.job_ranges() m
               where m.part = v_cursor.part)
     order by r.end_id nulls last
  loop
    v_after := case when v_range.part = v_cursor.part then v_cursor.reached else 0 end;
    execute format('select j.created_at from postrider_internal.jobs_%s j order by j.id desc limit 1',
                   v_range.part) into v_newest;
    if v_range.is_full then
      continue when v_newest >= greatest(v_ended, v_failed);
      if v_after = 0 and not v_is_referenced then
        jobs := postrider_internal.prune_range(p_worker, p_epoch, v_range.part, v_range.first_id, v_range.end_id,
                                               v_ended, v_failed);
        if jobs is not null then
          dropped := format('jobs_%s from %s to %s', v_range.part, coalesce(v_range.first_id, 1), v_range.end_id - 1);
          update postrider_internal.prune_cursor set part = null, reached = 0;
          wait_ms := 0;
          return;
        end if;
      end if;
    end if;
    -- The largest number: this part is finished.
    continue when v_newest is null or v_after = 9223372036854775807;
    select s.reached, s.pruned into v_after, jobs
      from postrider_internal.prune_span(v_range.part, v_after, 5000, v_ended, v_failed) s;
    update postrider_internal.prune_cursor set part = v_range.part, reached = coalesce(v_after, 9223372036854775807);
    wait_ms := 0;
    return;
  end loop;
  jobs := 0;
  update postrider_internal.prune_cursor set part = null, reached = 0;
  if pg_try_advisory_xact_lock(1886351474, -1) then
    -- No other session scans a range at this moment.
    delete from postrider_internal.rerun_jobs;
  end if;
  delete from postrider_internal.workers w where w.ended_at < least(v_ended, v_failed);
  delete from postrider.admin_log a
   where a.id = any (array(select x.id from postrider.admin_log x where x.at < least(v_ended, v_failed) limit 5000));
  perform postrider_internal.prune_cache_totals();
exception when lock_not_available then
  jobs := 0;
  dropped := null;
  wait_ms := 60000;
end
$$;
comment on function postrider_internal.prune(int, bigint) is
  'leader: one step of deleting old jobs; wait_ms: time until the next step (0: at once; null: another worker leads)';
