-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Only the latest success of a schedule and later jobs stay. A job that failed stays too, because a user may retry it.
-- Rows that run_schedule holds in an open transaction are left to the next call.
create or replace function postrider_internal.fold_schedule_runs() returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  with ended as materialized (
    select s.ctid as spot, r.finished_at
      from postrider_internal.schedule_runs s
      join postrider_internal.results r on r.job_id = any (array[s.job_id]) and r.state = 's'
     where s.succeeded_at is null for update of s skip locked)
  update postrider_internal.schedule_runs s set succeeded_at = e.finished_at from ended e where s.ctid = e.spot;
  delete from postrider_internal.schedule_runs s
   where s.ctid = any (array(
           select x.ctid from postrider_internal.schedule_runs x
            where exists (select from postrider_internal.schedule_runs n
                           where n.schedule = x.schedule and n.job_id > x.job_id and n.succeeded_at is not null)
               or not exists (select from postrider.schedules p where p.name = x.schedule)
              for update of x skip locked));
$$;
comment on function postrider_internal.fold_schedule_runs() is
  'leader: stores the latest success of each schedule before retention deletes its job';
