-- SPDX-License-Identifier: Apache-2.0
-- Lanes and queues: limits and pauses of calls, and the state by which the fleet keeps them.
--
-- A lane without a row in lanes has no limits. The rows are few and change seldom. So each claim reads their small
-- indexes again, and a pause applies to each later claim. Values that change often have their own tables.

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
  'limits and pauses of lanes; a lane without a row has the defaults; a 429 also adds a row';
comment on column postrider.lanes.id is 'number of the lane, used by workers';
comment on column postrider.lanes.name is
  'name of the lane: jobs.lane, otherwise the name of the service, otherwise host:port of the URL';
comment on column postrider.lanes.max_in_flight is 'most calls in flight in the whole fleet; null: no limit';
comment on column postrider.lanes.rate_limit is
  'most calls that begin within any rate_period in the whole fleet; null: no limit';
comment on column postrider.lanes.rate_period is 'period of rate_limit';
comment on column postrider.lanes.retry_budget is
  'while most calls fail: largest share of retries, with at least 10 a second allowed; above 0; 1: no limit';
comment on column postrider.lanes.paused_until is
  'no call begins before this time; infinity: until resume_lane; null or past: not paused';
comment on column postrider.lanes.pause_reason is 'user or answer that paused the lane';
comment on column postrider.lanes.created_at is 'when the row was inserted';

create table postrider.queues (
  name text primary key,
  paused boolean default false,
  created_at timestamptz default now()
);
create index queues_paused on postrider.queues (name) where paused;
comment on table postrider.queues is 'queues that a user has paused or resumed; a queue without a row runs';
comment on column postrider.queues.name is 'name in jobs.queue';
comment on column postrider.queues.paused is 'true: no call of its jobs begins; calls in flight continue';
comment on column postrider.queues.created_at is 'when the row was inserted';

-- The claim of one announced job searched five tables for limits, pauses and hooks, a tenth of its time in an idle
-- session. A sequence for the same reason as idle_gate. It starts open. The leader closes it within a second if no
-- limit, pause or hook exists.
create sequence postrider_internal.hold_gate minvalue 1 maxvalue 2 start 2;
comment on sequence postrider_internal.hold_gate is
  '1: no limit, pause or hook exists; otherwise 2: claims check them; opened before such a row commits, closed by '
  'the leader';

-- Throttling by servers

create table postrider_internal.throttled_lanes (
  lane text primary key,
  streak int not null,
  at timestamptz not null
) with (fillfactor = 50);
comment on table postrider_internal.throttled_lanes is
  'lanes with a recent 429: its time and how many came in a row; streak 0: a call that began with it succeeded';

create type postrider_internal.lane_signal as (
  track int,
  since timestamptz,
  wait_ms bigint,
  status smallint,
  verdict "char"
);
comment on type postrider_internal.lane_signal is
  'what an answer says about its lane: wait (verdict w, or a wait), or success';

-- An open transaction may hold the row of a lane whose server sends 429. With this table the pause applies at once, and
-- no finish waits for the row.
create unlogged table postrider_internal.lane_pauses (
  lane text not null,
  until timestamptz not null,
  reason text not null
) with (autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0);
comment on table postrider_internal.lane_pauses is
  'pauses asked for by servers while the row of lanes was locked; the leader copies them there';

-- Permits and slots. acquire_lane_permits locks the row of lane_rates first and reads the permits of other workers in
-- its next statement.

create table postrider_internal.lane_rates (
  lane int primary key references postrider.lanes (id) on delete cascade,
  last_slot timestamptz not null default '-infinity'
) with (fillfactor = 50);
comment on table postrider_internal.lane_rates is
  'one row for each lane with a limit, locked by acquire_lane_permits; last_slot: the last slot given away';

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
  'permits of a worker in a lane with max_in_flight, and the number that it wants';

-- The retry budget

-- A failing server does not recover while all its retries come at once. A lane has a row here only while most of its
-- latest calls failed, so promote usually finds an empty index. A retry that must wait gets a slot (scheduled.has_slot)
-- and is read once, however many wait.
create table postrider_internal.failing_lanes (
  lane text primary key,
  calls double precision not null,         -- calls of about the last 10 s; older ones count less
  good double precision not null,          -- successful calls; see update_retry_budget for a failing lane
  bad double precision not null,           -- retryable failures; see update_retry_budget for a failing lane
  strained_since timestamptz,              -- since this time there were 100 calls, most of them bad
  failing boolean not null,
  at timestamptz not null,                 -- of the last calls
  last_slot timestamptz not null default '-infinity',
  last_check timestamptz not null default '-infinity'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
create index failing_lanes_failing on postrider_internal.failing_lanes (lane) where failing;
comment on table postrider_internal.failing_lanes is
  'lanes of which most recent calls failed; a lane without a row works';
comment on column postrider_internal.failing_lanes.last_slot is 'the last slot given to a retry of the lane';
comment on column postrider_internal.failing_lanes.last_check is
  'the last time to which a retry without a slot was delayed';
