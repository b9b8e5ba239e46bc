-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan
-- One transaction writes the jobs of a tick and the next tick, and it locks the row of the schedule. So a leader that
-- dies leaves nothing behind. A replaced leader repeats nothing, and no session waits for it.
--
-- Rows before p_since were handled already. While a transaction stays open for hours, each call would walk over their
-- dead index entries. Rows that were committed late or set by a user lie before p_since, so now and then it is null.
--
-- Heartbeats share this session, so an open transaction must not delay it. If a tick meets a lock, for example of its
-- dedupe_key, it stays due. Later ticks of this run then wait for no lock, and p_since stays, so that the next run
-- finds the tick again. After a second the rest is left to the next run, also further ticks of the same schedule.
create or replace function postrider_internal.run_schedules(
  p_worker int, p_epoch bigint, p_since timestamptz, p_limit int, p_now timestamptz default now())
returns table (made bigint, more boolean, latest timestamptz, wait_ms bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_schedule postrider.schedules;
  v_began constant timestamptz := clock_timestamp();
  v_done int := 0;
  v_is_held boolean := false;
  v_is_late boolean := false;
begin
  made := 0;
  if exists (
       select from postrider.schedules s
        where s.next_run_at <= p_now and s.next_run_at >= coalesce(p_since, '-infinity'))
     and postrider_internal.leads(p_worker, p_epoch) then
    for v_schedule in
      select s.* from postrider.schedules s
       where s.next_run_at <= p_now and s.next_run_at >= coalesce(p_since, '-infinity')
       order by s.next_run_at
         for update skip locked
    loop
      made := made + postrider_internal.run_tick(v_schedule, p_now);
      v_is_late := clock_timestamp() > v_began + interval '1 s';
      exit when v_is_late and not v_is_held;
      if exists (select from postrider.schedules s where s.name = v_schedule.name and s.next_run_at <= p_now) then
        v_is_held := true;
        perform set_config('lock_timeout', '1ms', true);
      else
        v_done := v_done + 1;
        latest := v_schedule.next_run_at;
      end if;
      exit when v_done >= p_limit or v_is_late;
    end loop;
  end if;
  more := v_done >= p_limit or v_is_late and not v_is_held;
  if v_is_held or v_is_late then
    latest := null;
  end if;
  select ceil(extract(epoch from s.next_run_at - clock_timestamp()) * 1000) into wait_ms
    from postrider.schedules s
   where s.next_run_at > p_now
   order by s.next_run_at limit 1;
  return next;
end
$$;
comment on function postrider_internal.run_schedules(int, bigint, timestamptz, int, timestamptz) is
  'leader: makes the jobs of up to p_limit due schedules from p_since on (null: all); latest null: a tick must wait';
