-- SPDX-License-Identifier: Apache-2.0
-- Schedules. A tick inserts its job and moves next_run_at in one transaction, so no tick is lost or repeated.

create table postrider.schedules (
  name text primary key,
  -- when
  cron text,
  timezone text default 'UTC',
  jitter interval,
  enabled boolean default true,
  -- the job
  spec jsonb,
  -- which ticks are left out
  overlap text default 'allow',
  catch_up text default 'none',
  catch_up_limit int default 100,
  -- set by Postrider
  next_run_at timestamptz,
  last_run_at timestamptz,
  last_job_id bigint,
  last_error text,
  skipped bigint not null default 0,
  missed bigint not null default 0,
  last_missed_at timestamptz,
  last_missed_reason text,
  created_at timestamptz not null default now(),
  created_by text not null default current_user
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);
create index schedules_due on postrider.schedules (next_run_at) where next_run_at is not null;
comment on table postrider.schedules is
  'insert a row, and Postrider submits its spec at each tick; see schedule_status';
comment on column postrider.schedules.name is
  'name of the schedule; also the tag of its jobs, unless the spec has a tag';
comment on column postrider.schedules.cron is
  'five fields (minute hour day month weekday), six with the second first, or @yearly, @monthly, @weekly, @daily, '
  '@hourly';
comment on column postrider.schedules.timezone is 'IANA time zone of cron, like Europe/Berlin';
comment on column postrider.schedules.jitter is
  'run_at of a job is its tick plus a random part of this interval; null: the tick';
comment on column postrider.schedules.enabled is
  'false: no ticks; when set to true, next_run_at is computed from the present time';
comment on column postrider.schedules.spec is 'spec for each tick, as in submit: a job, chain or batch';
comment on column postrider.schedules.overlap is
  'while the last job is unfinished, a tick makes a job (allow) or makes none (skip)';
comment on column postrider.schedules.catch_up is
  'jobs for ticks missed while no worker ran: none, one for all of them, or all up to catch_up_limit';
comment on column postrider.schedules.catch_up_limit is
  'with catch_up all: how many of the newest missed ticks get jobs, 1 to 1000';
comment on column postrider.schedules.next_run_at is 'time of the next tick; null: not enabled';
comment on column postrider.schedules.last_run_at is 'when the schedule last made a job';
comment on column postrider.schedules.last_job_id is 'last job that the schedule made; for a batch or chain the root';
comment on column postrider.schedules.last_error is 'why the last tick made no job; null: it made a job';
comment on column postrider.schedules.skipped is
  'ticks without a job because the last job was unfinished, a dedupe_key was in use, or an error occurred';
comment on column postrider.schedules.missed is
  'ticks without a job because no worker was in time and catch_up left them out';
comment on column postrider.schedules.last_missed_at is 'time of the last tick without a job, missed or skipped';
comment on column postrider.schedules.last_missed_reason is 'why the tick at last_missed_at made no job';
comment on column postrider.schedules.created_at is 'when the row was inserted';
comment on column postrider.schedules.created_by is 'role that inserted the row; its jobs have the same created_by';

create table postrider_internal.schedule_runs (
  job_id bigint primary key,
  schedule text not null,
  succeeded_at timestamptz
);
create index schedule_runs_schedule on postrider_internal.schedule_runs (schedule, job_id);
comment on table postrider_internal.schedule_runs is
  'the last success of each schedule, and up to ten later jobs that have not succeeded';
comment on column postrider_internal.schedule_runs.succeeded_at is
  'when the job ended succeeded; null: it has not, or the leader has not seen it yet';

create type postrider_internal.cron_plan as (
  seconds text,                            -- one character for each value from the lowest: 1 matches, 0 does not
  minutes text,
  hours text,
  days text,
  is_last_day boolean,                     -- L: the last day of the month, too
  months text,
  weekdays text,                           -- from Sunday
  nths text,                               -- five times weekdays: the first ones of a month, the second ones, …
  lasts text,                              -- weekdays: the last one of a month
  is_either boolean,                       -- both day fields are given: either matches
  is_real_time boolean
);
comment on type postrider_internal.cron_plan is 'a parsed cron expression, see the function cron_plan';
comment on column postrider_internal.cron_plan.is_real_time is
  'the hour field begins with *: each instant with a matching local time is a tick; otherwise each local time';
