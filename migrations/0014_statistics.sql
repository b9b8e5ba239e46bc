-- SPDX-License-Identifier: Apache-2.0
-- Counters of ended jobs, and limits for clients with the counts of unfinished jobs to compare.
--
-- If a finish updated a counter, it would wait for each transaction that has just inserted. So INSERTs and finishes
-- append deltas, and the leader adds them up once a second.

-- One row with arrays for each finish. Otherwise a finish over 64 lanes would write 64 rows for its 64 jobs.
create table postrider_internal.job_deltas (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  tracks int[] not null,
  states "char"[] not null,                -- as in results; for an attempt that ended no job its verdict
  jobs int[] not null,
  queue text,
  -- The leader looks up the times of a few hundred of these jobs a second. So the hot path pays only for a maximum of
  -- values at hand.
  samples bigint[],
  ended bigint[]
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.job_deltas is
  'jobs of each finish by track and state (negative: taken back), until the leader folds them into job_totals';
comment on column postrider_internal.job_deltas.queue is
  'for jobs without a track (track 0); null: the queues of the tracks';
comment on column postrider_internal.job_deltas.samples is
  'one job for each entry of jobs, whose times stand for all of them; null: none is used';
comment on column postrider_internal.job_deltas.ended is
  'ids of requests that ended, kept while client_limits has rows; negative: the request runs again';

-- A worker counts the jobs that it ends in its own metrics. The leader counts the others in its own metrics, from here.
create table postrider_internal.unreported_ends (
  id bigint generated always as identity primary key,
  queue text not null,
  service text not null,                   -- empty: the jobs have no service
  state "char" not null,
  jobs int not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.unreported_ends is
  'requests that ended without a report to their worker, until the leader counts them in its metrics';

create table postrider_internal.job_totals (
  minute timestamptz not null,
  queue text not null,
  state "char" not null,
  jobs bigint not null,
  primary key (queue, state, minute)
);
comment on table postrider_internal.job_totals is
  'finished jobs by queue, state and minute; minute -infinity holds the sum of minutes older than an hour';

create table postrider_internal.timings (
  minute timestamptz not null,
  kind "char" not null,                    -- w waits, from due to the first attempt · c calls that ended their job
  bucket smallint not null,                -- four times the logarithm to base 2 of the microseconds
  jobs bigint not null,
  primary key (minute, kind, bucket)
) with (fillfactor = 50);
comment on table postrider_internal.timings is 'a sample of waits and calls of the last hour by minute and duration';

-- Clients

-- One client must not fill the queue, take all lanes or all priorities.
create table postrider.client_limits (
  role text primary key,
  -- of all its unfinished jobs
  max_unfinished bigint,
  max_lanes int,
  -- of each job
  min_priority smallint,
  max_priority smallint,
  max_timeout interval,
  max_request_body bigint,
  may_download boolean
);
comment on table postrider.client_limits is
  'limits for INSERTs of a client role; row * applies to each role without a row; null: no limit';
comment on column postrider.client_limits.role is 'name of the inserting role, or *';
comment on column postrider.client_limits.max_unfinished is 'most unfinished requests of the role';
comment on column postrider.client_limits.max_lanes is 'most lanes with unfinished requests of the role';
comment on column postrider.client_limits.min_priority is 'lowest allowed jobs.priority';
comment on column postrider.client_limits.max_priority is 'highest allowed jobs.priority';
comment on column postrider.client_limits.max_timeout is
  'longest allowed timeout of an attempt, from the job, its service or 60 s; an unlimited download or upload exceeds '
  'it';
comment on column postrider.client_limits.max_request_body is
  'largest request body in bytes as sent; files of body_parts do not count';
comment on column postrider.client_limits.may_download is 'false: jobs with download_to are refused';

-- The leader replaces the row of a role instead of updating it. While an old transaction is open, old versions stay,
-- and a reader that takes the highest version first never meets them.
create table postrider_internal.client_usage (
  role text,
  version bigint,
  unfinished bigint not null,
  lanes bigint not null,
  recounted bigint,
  recounted_lanes bigint,
  primary key (role, version)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.client_usage is
  'unfinished requests of each client with limits, at most a second old; read client_status';
comment on column postrider_internal.client_usage.lanes is
  'lanes with unfinished requests; counted only for clients with max_lanes';
comment on column postrider_internal.client_usage.recounted is
  'requests that the recount in progress has found; null without a recount';

create table postrider_internal.client_lanes (
  role text,
  lane text collate "C",
  unfinished bigint not null,
  recounted bigint not null,
  pass int not null,
  primary key (role, lane)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.client_lanes is 'unfinished requests of each client with max_lanes, by lane';
comment on column postrider_internal.client_lanes.pass is 'the number of the recount to which recounted belongs';

create table postrider_internal.client_deltas (
  xact xid8 default pg_current_xact_id(),
  role text,
  so_far bigint,
  new_lanes bigint not null,
  first_id bigint not null,
  last_id bigint not null,
  lanes text[] not null,
  lane_jobs bigint[] not null,
  primary key (xact, role, so_far)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.client_deltas is
  'requests added by each INSERT of a client with limits, until the leader adds them to client_usage';
comment on column postrider_internal.client_deltas.so_far is
  'requests of the role inserted by this transaction up to this statement';
comment on column postrider_internal.client_deltas.new_lanes is
  'lanes that this transaction has added to client_new_lanes for the role';

-- The jobs of one INSERT that a role adds in one lane, for find_client_defect. The texts are parts of the URL.
create type postrider_internal.client_jobs as (
  role text,
  lane text,
  scheme text collate "C",
  host text collate "C",
  jobs bigint,
  first_id bigint,
  last_id bigint,
  lowest int,
  highest int,
  timeout interval,
  is_endless boolean,
  body bigint,
  downloads boolean
);
comment on type postrider_internal.client_jobs is 'the jobs of one INSERT that a role adds in one lane';
comment on column postrider_internal.client_jobs.lane is
  'own lane or service of the jobs; null: made of scheme and host';
comment on column postrider_internal.client_jobs.jobs is 'how many of them are requests';
comment on column postrider_internal.client_jobs.is_endless is 'whether a download or upload has no timeout';
comment on column postrider_internal.client_jobs.body is 'bytes of the largest body';

create table postrider_internal.client_new_lanes (
  xact xid8 default pg_current_xact_id(),
  role text,
  lane text collate "C",
  primary key (xact, role, lane)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.client_new_lanes is
  'lanes used by a transaction that client_lanes does not have yet, so that it counts each once';

-- An error of this count must not stop the other counts of the leader, and an operator must see it.
create table postrider_internal.client_counting (
  only_row boolean primary key default true check (only_row),
  scope text,
  seen pg_snapshot,
  pass int not null default 0,
  recounted_from bigint,
  recounted_at timestamptz,
  version bigint not null default 0,
  failed_at timestamptz,
  error text
) with (fillfactor = 50);
insert into postrider_internal.client_counting default values;
comment on table postrider_internal.client_counting is 'how far the leader has counted the jobs of clients';
comment on column postrider_internal.client_counting.scope is
  'the clients whose jobs are counted; a change starts a recount';
comment on column postrider_internal.client_counting.seen is 'deltas that are visible to this snapshot have been added';
comment on column postrider_internal.client_counting.recounted_from is
  'the recount in progress has counted jobs from this id on; null: no recount';
comment on column postrider_internal.client_counting.failed_at is
  'when fold_clients last failed; null: it has succeeded since, or never failed';
comment on column postrider_internal.client_counting.error is 'message of the last failure';
