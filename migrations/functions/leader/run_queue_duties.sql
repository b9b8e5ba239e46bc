-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Steps are small, because claims of this worker and jobs on new tracks wait for them. A step promotes 5000 rows, moves
-- 2000 to new tracks, and feeds 20,000 from lists of one lane and 5000 from lists of several lanes. After jobs got new
-- tracks, it feeds a tenth of that, and lists of several lanes at most every 100 ms.
--
-- more: the next step should follow at once. latest: the last run_at that was promoted. has_due_outcomes: ends in
-- outcomes are due. has_crowd: the intake holds lists of several lanes.
create or replace function postrider_internal.run_queue_duties(p_worker int, p_epoch bigint, p_since timestamptz)
returns table (leads boolean, moved bigint, more boolean, latest timestamptz, has_due_outcomes boolean,
               has_crowd boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_promoted int := 0;
  v_latest timestamptz;
  v_more boolean;
  v_placed int := 0;
  v_fed bigint := 0;
  v_crowd bigint := 0;
begin
  if not postrider_internal.leads(p_worker, p_epoch) then
    return query select false, 0::bigint, false, null::timestamptz, false, false;
    return;
  end if;
  select p.moved, p.latest, p.more into v_promoted, v_latest, v_more
    from postrider_internal.promote(p_worker, p_epoch, p_since, 5000) p;
  v_placed := postrider_internal.make_tracks(p_worker, p_epoch, 2000);
  -- Jobs whose track was just added wait for the end of this transaction.
  v_fed := postrider_internal.feed_next(p_worker, p_epoch, case when v_placed > 0 then 2000 else 20000 end);
  if v_placed = 0 or not exists (select from postrider_internal.feed_cursors m
                                 where m.at > clock_timestamp() - interval '100 ms') then
    v_crowd := postrider_internal.feed_crowd(p_worker, p_epoch, case when v_placed > 0 then 500 else 5000 end);
  end if;
  if exists (select from postrider_internal.lane_pauses) then
    perform postrider_internal.apply_deferred_pauses();
  end if;
  if v_placed > 0 then
    -- Notifies busy workers too, because no worker knows these tracks.
    perform pg_notify('postrider', 'made');
  elsif v_promoted + v_fed + v_crowd > 0 then
    perform postrider_internal.notify_idle_workers(case when v_crowd > 0 then 'made' else '' end);
  end if;
  return query select true, v_promoted + v_placed + v_fed + v_crowd,
    v_more or v_placed > 0 or v_fed > 0, v_latest,
    exists (select from postrider_internal.outcomes o where o.due_at <= now()),
    exists (select from postrider_internal.intake i where i.lane is null and i.bucket > 0);
end
$$;
comment on function postrider_internal.run_queue_duties(int, bigint, timestamptz) is
  'leader, every 100 ms: promotes due jobs (run_at from p_since, null: all), feeds the intake and adds tracks';
