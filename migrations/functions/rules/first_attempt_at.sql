-- SPDX-License-Identifier: Apache-2.0
-- A new page and an end of the job begin a new count.
create or replace function postrider_internal.first_attempt_at(p_job bigint) returns timestamptz
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select min(o.started_at)
    from postrider_internal.past_attempts o
   where o.job_id = p_job
     and o.fence > coalesce((
           select max(p.fence) from postrider_internal.past_attempts p
            where p.job_id = p_job and (p.error_code is null or p.ended_as is not null)), 0)
$$;
comment on function postrider_internal.first_attempt_at(bigint) is
  'when the first attempt of a job or its page began, for the within of a rule; null: this is the first';
