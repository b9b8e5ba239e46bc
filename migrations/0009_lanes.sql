-- SPDX-License-Identifier: Apache-2.0
-- Lanes and queues: limits and pauses of the flow towards the outside, and what the fleet keeps to hold them.
--
-- A lane without a row in lanes has no limits. The rows are few and change seldom. So each claim reads their small
-- indexes again, and a pause holds for every later claim. Values that change often have their own tables.

create table postrider.lanes (
  id int generated always as identity unique,
  name text primary key,
  -- limits
  max_in_flight int,
  rate_limit int,
  rate_period interval default '1 s',
  retry_budget numeric default 0.2,
  -- pause
  paused_until timestamptz,
  pause_reason text,
  created_at timestamptz default now()
);
create index lanes_paused on postrider.lanes (paused_until) where paused_until is not null;
create index lanes_limited on postrider.lanes (name) where max_in_flight is not null or rate_limit is not null;
comment on table postrider.lanes is
  'limits and pauses of the lanes that have some; all other lanes run free. A 429 makes a row, too';
comment on column postrider.lanes.id is 'its number among the workers';
comment on column postrider.lanes.name is
  'the lane of jobs: jobs.lane, else the service''s name, else the host:port of the URL';
comment on column postrider.lanes.max_in_flight is 'calls under way at once, in the whole fleet; null: no limit';
comment on column postrider.lanes.rate_limit is
  'calls begun within any rate_period, in the whole fleet; null: no limit';
comment on column postrider.lanes.rate_period is 'what rate_limit is counted over';
comment on column postrider.lanes.retry_budget is
  'while most calls of the lane fail, at most this part of them are retries, 10 a second in any case; more than 0; '
  '1: no budget';
comment on column postrider.lanes.paused_until is
  'no call begins before; infinity: until somebody resumes it. Past or null: not paused';
comment on column postrider.lanes.pause_reason is 'who or what paused it';

create table postrider.queues (
  name text primary key,
  paused boolean default false,
  created_at timestamptz default now()
);
create index queues_paused on postrider.queues (name) where paused;
comment on table postrider.queues is 'queues that somebody has said something of; all others run';
comment on column postrider.queues.name is 'what jobs.queue names';
comment on column postrider.queues.paused is 'no call of its jobs begins; calls under way go on';

-- The claim of one announced job looked for limits, pauses and hooks in five tables, a tenth of its time in an idle
-- session. A sequence for the reasons of idle_gate. It is open until the leader has looked, and the leader shuts it
-- within a second where nothing holds back.
create sequence postrider_internal.hold_gate minvalue 1 maxvalue 2 start 2;
comment on sequence postrider_internal.hold_gate is
  '1 while there is no limit, pause or hook that a claim must heed, else 2; opened before such a row '
  'commits, shut by the leader';

-- Answers that ask to slow down

create table postrider_internal.throttled_lanes (
  lane text primary key,
  streak int not null,
  at timestamptz not null
) with (fillfactor = 50);
comment on table postrider_internal.throttled_lanes is
  'lanes whose last word was a 429, how many in a row, and when; an answer to a call begun before says '
  'nothing new';

create type postrider_internal.lane_signal as (
  track int,
  since timestamptz,
  wait_ms bigint,
  status smallint,
  verdict "char"
);
comment on type postrider_internal.lane_signal is
  'what an answer says of its lane: it is to wait (verdict w, or a wait), or all is well';

-- A client's open transaction may hold the row of a lane whose server says 429. The pause holds at once, and no
-- finish waits for the row.
create unlogged table postrider_internal.lane_pauses (
  lane text not null,
  until timestamptz not null,
  reason text not null
) with (autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0);
comment on table postrider_internal.lane_pauses is
  'pauses that servers have asked for while somebody had locked the row of lanes; the leader puts them there';

-- Permits and slots. acquire_lane_permits locks the row of lane_rates first and reads the permits of others in its
-- next statement.

create table postrider_internal.lane_rates (
  lane int primary key references postrider.lanes (id) on delete cascade,
  next_slot timestamptz not null default '-infinity'
) with (fillfactor = 50);
comment on table postrider_internal.lane_rates is
  'up to where the call times of a lane with rate_limit are given away';

create table postrider_internal.lane_permits (
  lane int not null references postrider.lanes (id) on delete cascade,
  worker int not null,
  permits int not null,
  wanted int not null,
  at timestamptz not null default now(),
  primary key (lane, worker)
) with (fillfactor = 50);
create index lane_permits_worker on postrider_internal.lane_permits (worker);
comment on table postrider_internal.lane_permits is
  'how many calls of a lane with max_in_flight a worker may have under way, and how many it would like to';

-- The retry budget

-- A server that fails does not recover while all its retries come at once. A lane has a row here only while most of
-- its latest calls failed, so promote finds an empty index as a rule. A retry that has to wait gets a moment
-- (scheduled.has_slot) and is read once, however many wait.
create table postrider_internal.failing_lanes (
  lane text primary key,
  calls double precision not null,         -- of the last 10 s or so: what is older counts less and less
  good double precision not null,          -- of these, those that succeeded; see update_retry_budget for a failing lane
  bad double precision not null,           -- those that failed and may be tried again; see update_retry_budget, too
  strained_since timestamptz,              -- from here on there were 100 calls, most of them bad
  failing boolean not null,
  at timestamptz not null,                 -- of the last calls
  next_slot timestamptz not null default '-infinity',
  next_look timestamptz not null default '-infinity'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
create index failing_lanes_failing on postrider_internal.failing_lanes (lane) where failing;
comment on table postrider_internal.failing_lanes is
  'lanes most of whose calls failed just now; a lane without a row is well';
comment on column postrider_internal.failing_lanes.next_slot is 'up to where the moments of its retries are given away';
comment on column postrider_internal.failing_lanes.next_look is 'up to where retries without such a moment are spread';
