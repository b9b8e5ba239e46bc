-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Errors are rolled back and recorded for each schedule, so one schedule cannot stop the others. An error independent
-- of the spec (memory, a lock, a deadlock, a shutdown) leaves the tick due, and it is tried again.
--
-- Ticks cannot be computed if the database no longer knows the zone, or if cron_plan refuses the expression. Then the
-- schedule is read again once an hour. That moment is no tick. last_error names it, so that a next_run_at set by a user
-- is recognized.
create or replace function postrider_internal.run_tick(p_schedule postrider.schedules, p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cron record;
  v_ticks timestamptz[];
  v_missed bigint := 0;
  v_left_at timestamptz;                   -- the last tick without a job
  v_left_reason text;
  v_next timestamptz;
  v_tick timestamptz;
  v_id bigint;
  v_last bigint;
  v_made int := 0;
  v_skipped int := 0;
  v_error text;
  v_began timestamptz;
  v_retry_format constant text := '"its ticks cannot be computed, checked again at "YYYY-MM-DD HH24:MI:SS.US "UTC: "';
begin
  begin
    select c.* into v_cron from postrider_internal.cron_plan(p_schedule.cron) c;
    if v_cron.reason is not null then
      raise exception 'cron: %', v_cron.reason;
    end if;
    v_next := postrider_internal.cron_after(v_cron.plan, p_schedule.timezone, p_now);
    if starts_with(p_schedule.last_error, to_char(p_schedule.next_run_at at time zone 'UTC', v_retry_format)) then
      p_schedule.next_run_at := postrider_internal.cron_after(
        v_cron.plan, p_schedule.timezone, p_schedule.next_run_at - interval '1 hour');
    end if;
    if p_schedule.next_run_at <= p_now then
      select d.ticks, d.missed, d.last_missed_at into v_ticks, v_missed, v_left_at
        from postrider_internal.due_ticks(p_schedule, v_cron.plan, p_now) d;
      v_left_reason := 'no worker made its job in time; ' || case p_schedule.catch_up
        when 'none' then 'catch_up is none'
        when 'one' then 'catch_up is one'
        else case p_schedule.overlap when 'skip' then 'overlap is skip, so only the last tick makes a job'
             else format('catch_up_limit is %s', p_schedule.catch_up_limit) end end;
    end if;
  exception when others then
    if postrider_internal.is_shortage(sqlstate) then
      raise;
    end if;
    v_next := p_now + interval '1 hour';
    v_error := to_char(v_next at time zone 'UTC', v_retry_format) || sqlerrm;
    v_skipped := 1;
    v_left_at := p_schedule.next_run_at;
    v_left_reason := sqlerrm;
  end;
  if p_schedule.overlap = 'skip' and v_ticks <> '{}' then
    v_skipped := cardinality(v_ticks) - 1;
    if v_skipped > 0 and v_ticks[v_skipped] > coalesce(v_left_at, '-infinity') then
      v_left_at := v_ticks[v_skipped];
      v_left_reason := 'a later tick was also due, and overlap is skip';
    end if;
    v_ticks := v_ticks[cardinality(v_ticks):];
    if not postrider_internal.job_has_ended(p_schedule.last_job_id) then
      v_left_at := v_ticks[1];
      v_left_reason := format('job %s had not ended, and overlap is skip', p_schedule.last_job_id);
      v_ticks := '{}';
      v_skipped := v_skipped + 1;
    end if;
  end if;
  foreach v_tick in array coalesce(v_ticks, '{}') loop
    v_began := clock_timestamp();
    if v_made > 0 and v_began > statement_timestamp() + interval '1 s' then
      -- Heartbeats share this session, so the next run handles the rest.
      v_next := v_tick;
      exit;
    end if;
    begin
      v_id := postrider_internal.submit_tick(p_schedule, v_tick + coalesce(random() * p_schedule.jitter, interval '0'));
      -- settle begins the members.
      perform postrider_internal.advance_tree(t, 'due', 'tick') from postrider_internal.trees t
        where t.job_id = v_id;
      -- Checked here, because an error at the commit would roll back all schedules.
      set constraints postrider_internal.trees_begin immediate;
      set constraints postrider_internal.trees_begin deferred;
      v_error := null;
      v_last := coalesce(v_id, v_last);
      perform postrider_internal.record_schedule_run(p_schedule.name, v_id);
      v_made := v_made + (v_id is not null)::int;
      v_skipped := v_skipped + (v_id is null)::int;
      if v_id is null and v_tick > coalesce(v_left_at, '-infinity') then
        v_left_at := v_tick;
        v_left_reason := 'an unfinished job has its dedupe_key';
      end if;
    exception when query_canceled or others then
      v_error := sqlerrm;
      if sqlstate = '57014' and v_began < statement_timestamp() + interval '1 s' then
        -- It had the whole time of a statement, and would need it each time.
        v_error := 'making its jobs took longer than the limit of 6 s; make the spec smaller, or submit it from a separate job';
        v_skipped := v_skipped + cardinality(v_ticks) - array_position(v_ticks, v_tick) + 1;
        v_left_at := v_ticks[cardinality(v_ticks)];
        v_left_reason := v_error;
        exit;
      elsif postrider_internal.is_shortage(sqlstate) then
        v_next := v_tick;
        if sqlstate = '55P03' then
          v_error := 'an open transaction has locked rows that the tick needs, such as its dedupe_key; the tick is retried';
        end if;
        exit;
      end if;
      v_skipped := v_skipped + 1;
      if v_tick > coalesce(v_left_at, '-infinity') then
        v_left_at := v_tick;
        v_left_reason := v_error;
      end if;
    end;
  end loop;
  if v_next <= p_now then
    -- The next run handles the remaining ticks and counts from v_next on.
    v_missed := greatest(0, v_missed + cardinality(v_ticks) - array_position(v_ticks, v_next)
      - postrider_internal.cron_count(v_cron.plan, p_schedule.timezone, v_next, p_now));
    v_left_at := case when v_left_at < v_next then v_left_at end;
  end if;
  update postrider.schedules s
     set next_run_at = coalesce(v_next, p_now + interval '1 hour'),
         last_run_at = case when v_made > 0 then p_now else s.last_run_at end,
         last_job_id = coalesce(v_last, s.last_job_id),
         last_error = left(v_error, 2000), skipped = s.skipped + v_skipped, missed = s.missed + v_missed,
         last_missed_at = coalesce(v_left_at, s.last_missed_at),
         last_missed_reason = case when v_left_at is null then s.last_missed_reason else left(v_left_reason, 2000) end
   where s.name = p_schedule.name;
  return v_made;
end
$$;
comment on function postrider_internal.run_tick(postrider.schedules, timestamptz) is
  'makes the jobs of a due schedule whose row is locked, sets its next tick, and returns how many jobs';
