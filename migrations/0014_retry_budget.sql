-- SPDX-License-Identifier: Apache-2.0
-- What: the retry budget of lanes: what share of their calls may be retries while most of them fail, and what the leader
--       knows of the lanes that fail.
-- Why:  a server that fails is not mended by all its retries at once. A row in lane_retries stands only for a lane most of
--       whose calls failed just now, so promote finds an empty index as a rule. A retry that has to wait is given a moment
--       (has_slot) and looked at once, however many wait.
-- Cost: adds columns with constant defaults, no rewrite.

alter table postrider.lanes add column retry_budget numeric default 0.2;
comment on column postrider.lanes.retry_budget is
  'while most calls of the lane fail, at most this part of them are retries, 10 a second in any case; more than 0; 1: no budget';

alter table postrider.scheduled add column has_slot boolean not null default false;
comment on column postrider.scheduled.has_slot is
  'run_at is its turn among the retries of a lane that fails, or a person''s wish: no retry budget moves it again';

create table postrider.lane_retries (
  lane text primary key,
  calls double precision not null,         -- of the last 10 s or so: what is older counts less and less
  good double precision not null,          -- those that succeeded; otherwise while the lane is failing, see update_retry_budget
  bad double precision not null,           -- those that failed and may be tried again; likewise
  strained_since timestamptz,              -- from here on there were 100 calls, most of them bad
  failing boolean not null,
  at timestamptz not null,                 -- of the last calls
  next_slot timestamptz not null default '-infinity',
  next_look timestamptz not null default '-infinity'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
create index lane_retries_failing on postrider.lane_retries (lane) where failing;
comment on table postrider.lane_retries is
  'private: lanes most of whose calls failed just now; a lane without a row is well';
comment on column postrider.lane_retries.next_slot is 'up to where the moments of its retries are given away';
comment on column postrider.lane_retries.next_look is 'up to where retries without such a moment are spread';

-- It says whether more is due, too.
drop function if exists postrider.promote(int, bigint, timestamptz, int);
