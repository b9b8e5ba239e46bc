-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- For a conclude that failed as a whole, for example at its commit. The next conclude would begin with the same job.
create or replace function postrider_internal.defer_next_outcome(p_sqlstate text default null) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.defer_outcome(o.job_id, null, p_sqlstate)
    from (select n.job_id from postrider_internal.outcomes n
           where n.due_at <= now() order by n.due_at, n.job_id limit 1 for update skip locked) o
$$;
comment on function postrider_internal.defer_next_outcome(text) is
  'delays the first due job of outcomes after this error';
