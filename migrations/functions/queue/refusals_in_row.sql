-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
create or replace function postrider_internal.refusals_in_row(p_job bigint) returns int
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select t.refusals from postrider_internal.past_attempts t where t.job_id = p_job
                   order by t.fence desc limit 1), 0)::int
$$;
comment on function postrider_internal.refusals_in_row(bigint) is
  'how many times in a row, up to the last attempt, the database refused to prepare the call of a job';
