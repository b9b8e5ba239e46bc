-- SPDX-License-Identifier: Apache-2.0
-- What: limits for each client role, and the counts of unfinished jobs that they are compared with.
-- Why:  one client must not fill the queue, take all lanes or all priorities. A finish cannot update a counter: it would wait for every
--       transaction that has just inserted. So INSERTs and finishes append what they did, and the leader adds it up once a second.
-- Cost: null columns for tallies and tries; no rewrite.

create table postrider.client_limits (
  role text primary key,
  max_unfinished bigint,
  max_lanes int,
  min_priority smallint,
  max_priority smallint,
  max_timeout interval,
  max_request_body bigint,
  may_download boolean
);
comment on table postrider.client_limits is
  'public: limits for the INSERTs of a client role. The row * holds for each client role without a row, counted by itself. Null means no limit';
comment on column postrider.client_limits.role is 'name of the role that inserts, or *';
comment on column postrider.client_limits.max_unfinished is 'most requests that have not ended';
comment on column postrider.client_limits.max_lanes is 'most lanes with requests that have not ended';
comment on column postrider.client_limits.min_priority is 'lowest jobs.priority';
comment on column postrider.client_limits.max_priority is 'highest jobs.priority';
comment on column postrider.client_limits.max_timeout is
  'longest timeout of an attempt: the job''s, otherwise its service''s, otherwise 60 s; a download or upload without its own has none';
comment on column postrider.client_limits.max_request_body is 'most bytes of a request body as it is sent; files of body_parts do not count';
comment on column postrider.client_limits.may_download is 'false refuses download_to';

-- The leader replaces the row of a role instead of updating it. While an old transaction is open, old versions stay, and a reader that takes
-- the highest version first never meets them.
create table postrider.client_usage (
  role text,
  version bigint,
  unfinished bigint not null,
  lanes bigint not null,
  recounted bigint,
  recounted_lanes bigint,
  primary key (role, version)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.client_usage is 'private: unfinished requests of each client with limits, at most a second old; read client_status';
comment on column postrider.client_usage.lanes is 'lanes among them; counted only for clients with max_lanes';
comment on column postrider.client_usage.recounted is 'requests that the recount in progress has found; null without a recount';

create table postrider.client_lanes (
  role text,
  lane text collate "C",
  unfinished bigint not null,
  recounted bigint not null,
  pass int not null,
  primary key (role, lane)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.client_lanes is 'private: unfinished requests of each client with max_lanes, by lane';
comment on column postrider.client_lanes.pass is 'the recount that recounted belongs to';

create table postrider.client_deltas (
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
comment on table postrider.client_deltas is
  'private: what each INSERT of a client with limits added, until the leader adds it to client_usage';
comment on column postrider.client_deltas.so_far is 'requests of the role inserted by this transaction up to this statement';
comment on column postrider.client_deltas.new_lanes is 'lanes that this transaction has added to client_new_lanes for the role';

create table postrider.client_new_lanes (
  xact xid8 default pg_current_xact_id(),
  role text,
  lane text collate "C",
  primary key (xact, role, lane)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.client_new_lanes is
  'private: lanes that a transaction has used and client_lanes does not have yet, so that the transaction counts each once';

create table postrider.client_counting (
  only_row boolean primary key default true check (only_row),
  scope text,
  seen pg_snapshot,
  pass int not null default 0,
  recounted_from bigint,
  recounted_at timestamptz,
  version bigint not null default 0
) with (fillfactor = 50);
insert into postrider.client_counting default values;
comment on table postrider.client_counting is 'private: how far the leader has counted the jobs of clients';
comment on column postrider.client_counting.scope is 'whose jobs are counted; a change leads to a recount';
comment on column postrider.client_counting.seen is 'deltas that are visible to this snapshot have been added';
comment on column postrider.client_counting.recounted_from is 'the recount in progress has counted the jobs from this id on; null without one';

alter table postrider.tallies add column ended bigint[];
comment on column postrider.tallies.ended is
  'ids of requests that ended, kept while client_limits has rows; negative: the request runs again';

alter table postrider.tries add column gained_little boolean;
comment on column postrider.tries.gained_little is
  'of a download that broke off: whether the attempt brought less than 64 KiB; null: the attempt used up one of max_attempts, or was no download';
