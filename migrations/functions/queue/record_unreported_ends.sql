-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- p_states: for each job its final state. Batches and chains are not counted, as in job_totals. PL/pgSQL keeps
-- the plan: cancel_all calls this for each job, and a function in SQL is planned in each call.
create or replace function postrider_internal.record_unreported_ends(p_jobs bigint[], p_states "char"[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into postrider_internal.unreported_ends (queue, service, state, jobs)
  select j.queue, coalesce(j.service, ''), e.state, count(*)
    from unnest(p_jobs, p_states) as e (job_id, state)
    join postrider.jobs j on j.id = any (array[e.job_id])
   where j.kind = 'request'
   group by j.queue, j.service, e.state;
end
$$;
comment on function postrider_internal.record_unreported_ends(bigint[], "char"[]) is
  'counts ended requests for the metrics of the leader, because no worker hears of their end';
