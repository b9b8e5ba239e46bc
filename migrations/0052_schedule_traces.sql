-- SPDX-License-Identifier: Apache-2.0
-- What: schedules count the ticks that they missed, and keep the time and the reason of the last tick without a job. A parsed
--       cron expression says whether its ticks follow real time over a clock change.
-- Why:  a tick that made no job left no trace; an hourly schedule paused while an hour of local time repeated.
-- Cost: columns with constant defaults, so no table is rewritten.
-- breaking: no

alter table postrider.schedules add column missed bigint not null default 0;
alter table postrider.schedules add column last_missed_at timestamptz;
alter table postrider.schedules add column last_missed_reason text;
comment on column postrider.schedules.skipped is
  'ticks that made no job because the job before was unfinished, a dedupe_key was taken, or an error occurred';
comment on column postrider.schedules.missed is 'ticks that made no job because no worker made it in time and catch_up left them out';
comment on column postrider.schedules.last_missed_at is 'the last tick that made no job, missed or skipped';
comment on column postrider.schedules.last_missed_reason is 'why the tick of last_missed_at made no job';

alter type postrider.cron_plan add attribute is_real_time boolean;
comment on column postrider.cron_plan.is_real_time is
  'the hour field begins with *: each instant whose local time matches is a tick; otherwise each local time makes one tick';
