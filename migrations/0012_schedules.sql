-- SPDX-License-Identifier: Apache-2.0
-- What: schedules, what a parsed cron expression is, and which unfinished job holds a dedupe_key.
-- Why:  a tick inserts its job and moves next_run_at in one transaction, so no tick is lost or made twice. A key's row stays
--       when its job ends, so the end of a job costs nothing for it: who wants the key next looks whether the holder has ended.
-- Cost: runs on an empty schema.

create table postrider.schedules (
  name text primary key,
  cron text,
  timezone text default 'UTC',
  spec jsonb,
  enabled boolean default true,
  overlap text default 'allow',
  catch_up text default 'none',
  catch_up_limit int default 100,
  jitter interval,
  next_run_at timestamptz,
  last_run_at timestamptz,
  last_job_id bigint,
  last_error text,
  skipped bigint not null default 0,
  created_at timestamptz not null default now(),
  created_by text not null default current_user
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index schedules_due on postrider.schedules (next_run_at) where next_run_at is not null;
comment on table postrider.schedules is 'public: insert a row and its spec is submitted again and again; see schedule_status';
comment on column postrider.schedules.name is 'also the tag of its jobs, unless the spec has one';
comment on column postrider.schedules.cron is
  'five fields, minute hour day month weekday, or six with the second first; or @yearly, @monthly, @weekly, @daily, @hourly';
comment on column postrider.schedules.timezone is 'IANA zone in which the fields of cron are read, like Europe/Berlin';
comment on column postrider.schedules.spec is 'what is submitted, as for postrider.submit: a job, a chain or a batch';
comment on column postrider.schedules.enabled is 'false: no tick until it is true again; then next_run_at is counted from now';
comment on column postrider.schedules.overlap is 'allow, or skip: no tick while the job before is unfinished';
comment on column postrider.schedules.catch_up is
  'of ticks missed while no worker ran: none, one job for all of them, or all of them, up to catch_up_limit';
comment on column postrider.schedules.catch_up_limit is 'catch_up all: the newest so many; 1 to 1000';
comment on column postrider.schedules.jitter is 'each job''s run_at is its tick and a random part of this; null: its tick';
comment on column postrider.schedules.next_run_at is 'the next tick; null while not enabled';
comment on column postrider.schedules.last_run_at is 'when it last made a job';
comment on column postrider.schedules.last_job_id is 'the job that it made last; of a tree, the root';
comment on column postrider.schedules.last_error is 'why the last tick made no job; null: it did';
comment on column postrider.schedules.skipped is 'ticks that made no job because the one before was unfinished, or for an error';
comment on column postrider.schedules.created_by is 'the role that inserted the row; its jobs carry it too';

create type postrider.cron_plan as (
  seconds text,                            -- one character for each value of the field, from the lowest: 1 matches, 0 does not
  minutes text,
  hours text,
  days text,
  is_last_day boolean,                     -- L: the last day of the month, too
  months text,
  weekdays text,                           -- from Sunday
  nths text,                               -- five times weekdays: the first ones of a month, the second ones, …
  lasts text,                              -- weekdays: the last one of a month
  is_either boolean                        -- both day fields are given: either matches
);
comment on type postrider.cron_plan is 'private: a cron expression, as cron_plan reads it';

create table postrider.dedupe_keys (
  digest bytea primary key,                -- SHA-256 of queue and key, which together may be too long for an index
  job_id bigint not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.dedupe_keys is
  'private: the job that took a dedupe_key last; the key is free once that job has ended';

create table postrider.dedupe_sweep (
  only_row boolean primary key default true check (only_row),
  reached bytea not null default '',
  due_at timestamptz not null default '-infinity'
) with (fillfactor = 10);
insert into postrider.dedupe_sweep default values;
comment on table postrider.dedupe_sweep is 'private: how far the leader has come in dropping keys of ended jobs';
