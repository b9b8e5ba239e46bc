-- SPDX-License-Identifier: Apache-2.0
-- Most jobs of schedules have ended: one look at results, and the whole of job_status for the others only. No join: one
-- with job_status may be planned as a walk over all jobs.
create or replace view postrider.schedule_status as
select s.name, s.cron, s.timezone, s.enabled, s.overlap, s.catch_up, s.catch_up_limit, s.jitter, s.next_run_at,
       s.last_run_at,
       s.last_job_id,
       coalesce((select postrider_internal.state_name(r.state) from postrider_internal.results r
                 where r.job_id = s.last_job_id),
                postrider_internal.job_state(s.last_job_id)) as last_state,
       s.last_error, s.skipped, s.created_at, s.created_by, s.missed, s.last_missed_at, s.last_missed_reason
  from postrider.schedules s;
comment on view postrider.schedule_status is
  'one row for each schedule: when it runs next, what its last job came to, and why a tick made none';
comment on column postrider.schedule_status.name is 'its name';
comment on column postrider.schedule_status.cron is 'when it makes a job';
comment on column postrider.schedule_status.timezone is 'in which cron is read';
comment on column postrider.schedule_status.enabled is 'whether it makes any';
comment on column postrider.schedule_status.overlap is 'what a tick does while its last job runs';
comment on column postrider.schedule_status.catch_up is 'what becomes of ticks that were missed: one, all or none';
comment on column postrider.schedule_status.catch_up_limit is 'how many of them at most';
comment on column postrider.schedule_status.jitter is 'up to how much later than its tick a job is due';
comment on column postrider.schedule_status.next_run_at is 'when the next tick is due';
comment on column postrider.schedule_status.last_run_at is 'when it last made a job';
comment on column postrider.schedule_status.last_job_id is 'the job that it made';
comment on column postrider.schedule_status.last_state is 'where that job stands';
comment on column postrider.schedule_status.last_error is 'why a tick made none, and what to do';
comment on column postrider.schedule_status.skipped is
  'ticks that made none: the job before had not ended, its dedupe_key was taken, or an error';
comment on column postrider.schedule_status.missed is
  'ticks that made none: no worker made them in time, and catch_up left them out';
comment on column postrider.schedule_status.last_missed_at is 'the last tick that made none, missed or skipped';
comment on column postrider.schedule_status.last_missed_reason is 'why that tick made none';
comment on column postrider.schedule_status.created_at is 'when it was inserted';
comment on column postrider.schedule_status.created_by is 'by whom; its jobs are theirs';
