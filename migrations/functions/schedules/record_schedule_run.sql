-- SPDX-License-Identifier: Apache-2.0
-- The caller has locked the row of the schedule, so no other transaction adds rows for it. A schedule whose jobs never
-- succeed keeps ten rows.
create or replace function postrider_internal.record_schedule_run(p_schedule text, p_job bigint) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into postrider_internal.schedule_runs (job_id, schedule) select p_job, p_schedule where p_job is not null;
  delete from postrider_internal.schedule_runs r
   where r.schedule = p_schedule and r.succeeded_at is null
     and r.job_id < (select n.job_id from postrider_internal.schedule_runs n
                     where n.schedule = p_schedule and n.succeeded_at is null
                     order by n.job_id desc offset 9 limit 1);
$$;
comment on function postrider_internal.record_schedule_run(text, bigint) is
  'remembers a job of a schedule (null: none was made), so that its success can be found';
