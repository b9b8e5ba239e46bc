-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Successes since the last fold_schedule_runs are read from the results.
create or replace function postrider_internal.last_successes(p_limit int)
returns table (schedule text, succeeded_at timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.schedule, max(coalesce(s.succeeded_at, r.finished_at))
    from postrider_internal.schedule_runs s
    left join postrider_internal.results r
           on r.job_id = any (array[s.job_id]) and r.state = 's' and s.succeeded_at is null
   group by s.schedule
  having max(coalesce(s.succeeded_at, r.finished_at)) is not null
   order by s.schedule limit p_limit
$$;
comment on function postrider_internal.last_successes(int) is
  'when the latest successful job of each schedule ended, of at most p_limit schedules';
