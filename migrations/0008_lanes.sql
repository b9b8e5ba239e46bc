-- SPDX-License-Identifier: Apache-2.0
-- What: lanes and queues, what an admin says of the flow towards the outside: limits, pauses. And what the fleet keeps
--       to hold the limits: permits and slots that its workers have drawn.
-- Why:  a lane without a row here has no limits. The rows are few and change seldom, so each claim asks their small
--       indexes anew, and a pause holds for every claim that begins after it. What changes often lies in tables of its own.
-- Cost: runs on an empty schema; an index on tracks otherwise.

create table postrider.lanes (
  name text primary key,
  id int generated always as identity unique,
  max_in_flight int,
  rate_limit int,
  rate_period interval default '1 s',
  paused_until timestamptz,
  pause_reason text,
  created_at timestamptz default now()
);
create index lanes_paused on postrider.lanes (paused_until) where paused_until is not null;
create index lanes_limited on postrider.lanes (name) where max_in_flight is not null or rate_limit is not null;
comment on table postrider.lanes is
  'public: limits and pauses of the lanes that have some; all other lanes run free. A 429 makes a row, too';
comment on column postrider.lanes.name is 'the lane of jobs: jobs.lane, else the service''s name, else the host:port of the URL';
comment on column postrider.lanes.id is 'its number among the workers';
comment on column postrider.lanes.max_in_flight is 'calls under way at once, in the whole fleet; null: no limit';
comment on column postrider.lanes.rate_limit is 'calls begun within any rate_period, in the whole fleet; null: no limit';
comment on column postrider.lanes.rate_period is 'what rate_limit is counted over';
comment on column postrider.lanes.paused_until is 'no call begins before; infinity: until somebody resumes it. Past or null: not paused';
comment on column postrider.lanes.pause_reason is 'who or what paused it';

create table postrider.queues (
  name text primary key,
  paused boolean default false,
  created_at timestamptz default now()
);
create index queues_paused on postrider.queues (name) where paused;
comment on table postrider.queues is 'public: queues that somebody has said something of; all others run';
comment on column postrider.queues.name is 'what jobs.queue names';
comment on column postrider.queues.paused is 'no call of its jobs begins; calls under way go on';

-- lane_status looks up the tracks of a lane.
create index tracks_lane on postrider.tracks (lane);

-- Answers that ask to slow down

create table postrider.lane_strains (
  lane text primary key,
  streak int not null,
  at timestamptz not null
) with (fillfactor = 50);
comment on table postrider.lane_strains is
  'private: lanes whose last word was a 429, how many in a row, and when; an answer to a call begun before says nothing new';

create type postrider.sign as (
  track int,
  since timestamptz,
  wait_ms bigint,
  status smallint,
  verdict "char"
);
comment on type postrider.sign is 'private: what an answer says of its lane: it is to wait (verdict w, or a wait), or all is well';

-- Limits. Who draws locks the row of lane_states first and looks at the permits of others in its next statement.

create table postrider.lane_states (
  lane int primary key references postrider.lanes (id) on delete cascade,
  next_slot timestamptz not null default '-infinity'
) with (fillfactor = 50);
comment on table postrider.lane_states is 'private: up to where the call times of a lane with rate_limit are given away';

create table postrider.lane_permits (
  lane int not null references postrider.lanes (id) on delete cascade,
  worker int not null,
  permits int not null,
  wanted int not null,
  at timestamptz not null default now(),
  primary key (lane, worker)
) with (fillfactor = 50);
create index lane_permits_worker on postrider.lane_permits (worker);
comment on table postrider.lane_permits is
  'private: how many calls of a lane with max_in_flight a worker may have under way, and how many it would like to';

-- What a worker asks for names the lanes whose limits it keeps; what it is told, too.
drop function if exists postrider.claim(int, bigint, int, int[], int[], bigint[], boolean);
drop function if exists postrider.survey(text[]);
