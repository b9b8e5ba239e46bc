-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.record_prune(p_first bigint, p_last bigint, p_jobs bigint) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into postrider_internal.prunes as p (day, first_id, last_id, jobs)
  values ((now() at time zone 'UTC')::date, p_first, p_last, p_jobs)
      on conflict (day) do update
     set first_id = least(p.first_id, excluded.first_id), last_id = greatest(p.last_id, excluded.last_id),
       jobs = p.jobs + excluded.jobs
$$;
comment on function postrider_internal.record_prune(bigint, bigint, bigint) is
  'records that jobs with ids from p_first to p_last were deleted today';
