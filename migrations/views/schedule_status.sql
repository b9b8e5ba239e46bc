-- SPDX-License-Identifier: Apache-2.0
-- Most jobs of schedules have ended, so it reads results first and job_status only for the others. There is no join,
-- because PostgreSQL may plan a join with job_status as a walk over all jobs.
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
  'one row for each schedule: its next tick, the state of its last job, and why a tick made no job';
comment on column postrider.schedule_status.name is 'name of the schedule';
comment on column postrider.schedule_status.cron is 'cron expression';
comment on column postrider.schedule_status.timezone is 'time zone of cron';
comment on column postrider.schedule_status.enabled is 'true: ticks make jobs';
comment on column postrider.schedule_status.overlap is
  'while the last job is unfinished, a tick makes a job (allow) or makes none (skip)';
comment on column postrider.schedule_status.catch_up is 'missed ticks that get jobs: none, one or all';
comment on column postrider.schedule_status.catch_up_limit is 'with catch_up all: most missed ticks that get jobs';
comment on column postrider.schedule_status.jitter is 'longest random delay of a job after its tick';
comment on column postrider.schedule_status.next_run_at is 'time of the next tick; null: not enabled';
comment on column postrider.schedule_status.last_run_at is 'when the schedule last made a job';
comment on column postrider.schedule_status.last_job_id is
  'last job that the schedule made; for a batch or chain the root';
comment on column postrider.schedule_status.last_state is 'state of last_job_id';
comment on column postrider.schedule_status.last_error is
  'why the last tick made no job, with advice; null: it made a job';
comment on column postrider.schedule_status.skipped is
  'ticks without a job because the last job was unfinished, a dedupe_key was in use, or an error occurred';
comment on column postrider.schedule_status.missed is
  'ticks without a job because no worker was in time and catch_up left them out';
comment on column postrider.schedule_status.last_missed_at is 'time of the last tick without a job, missed or skipped';
comment on column postrider.schedule_status.last_missed_reason is 'why the tick at last_missed_at made no job';
comment on column postrider.schedule_status.created_at is 'when the schedule was inserted';
comment on column postrider.schedule_status.created_by is 'role that inserted the schedule and owns its jobs';
