-- SPDX-License-Identifier: Apache-2.0
-- The jobs of a tick and the next tick are written by one transaction, and the schedule's row is held: a leader that dies
-- leaves nothing, and one that was replaced meanwhile is waited for by nobody and repeats nothing.
--
-- Rows before p_since were done already; under a transaction held open for hours their dead index entries would be walked
-- over every time. What was committed late or set by hand lies before it: every now and then it is null.
create or replace function postrider.run_schedules(
  p_worker int, p_epoch bigint, p_since timestamptz, p_limit int, p_now timestamptz default now())
returns table (made bigint, more boolean, latest timestamptz, wait_ms bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_due postrider.schedules[];
  v_schedule postrider.schedules;
begin
  made := 0;
  more := false;
  if exists (
       select from postrider.schedules s
        where s.next_run_at <= p_now and s.next_run_at >= coalesce(p_since, '-infinity'))
     and postrider.leads(p_worker, p_epoch) then
    v_due := array(
      select s from postrider.schedules s
       where s.next_run_at <= p_now and s.next_run_at >= coalesce(p_since, '-infinity')
       order by s.next_run_at
       limit p_limit
         for update skip locked);
    foreach v_schedule in array v_due loop
      made := made + postrider.run_tick(v_schedule, p_now);
      latest := v_schedule.next_run_at;
    end loop;
    more := cardinality(v_due) = p_limit;
  end if;
  select ceil(extract(epoch from s.next_run_at - clock_timestamp()) * 1000) into wait_ms
    from postrider.schedules s
   where s.next_run_at > p_now
   order by s.next_run_at limit 1;
  return next;
end
$$;
comment on function postrider.run_schedules(int, bigint, timestamptz, int, timestamptz) is
  'private: leader: makes the jobs of up to p_limit due schedules, next_run_at from p_since on (null: all); how many, whether more are due, the latest next_run_at among them, and how long until the next';
