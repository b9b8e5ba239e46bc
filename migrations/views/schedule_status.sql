-- SPDX-License-Identifier: Apache-2.0
-- Most jobs of schedules have ended: one look at results, and the whole of job_status for the others only. No join: one with
-- job_status may be planned as a walk over all jobs.
create or replace view postrider.schedule_status as
select s.name, s.cron, s.timezone, s.enabled, s.overlap, s.catch_up, s.catch_up_limit, s.jitter, s.next_run_at, s.last_run_at,
       s.last_job_id,
       coalesce((select postrider.state_name(r.state) from postrider.results r where r.job_id = s.last_job_id),
                (select j.state from postrider.job_status j where j.id = s.last_job_id)) as last_state,
       s.last_error, s.skipped, s.created_at, s.created_by
  from postrider.schedules s;
comment on view postrider.schedule_status is
  'public: one row for each schedule: when it runs next, what its last job came to, and why a tick made none';
