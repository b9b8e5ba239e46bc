-- SPDX-License-Identifier: Apache-2.0
-- What: batches and chains. trees holds a row for each batch and chain, members one for each job inside of one.
-- Why:  a finish never updates a row that others share. What ended in a batch is appended to tree_deltas and added up
--       by settle; a chain has one step under way, so the finish of a step takes the chain's own row along.
--       All that settle locks it locks with SKIP LOCKED, so no two transactions wait for each other here.
-- Cost: runs on an empty schema.

alter table postrider.jobs add column each jsonb;
comment on column postrider.jobs.each is
  'batch: {"list": a template or an array, "do": a spec}; one member for each element, made when the batch begins';

alter table postrider.ready add column parent_id bigint, add column is_followed boolean not null default false;
comment on column postrider.ready.parent_id is 'batch or chain that hears when the job has ended';
comment on column postrider.ready.is_followed is 'the end of the job goes through outcomes: it has callbacks or the like';
alter table postrider.scheduled add column parent_id bigint, add column is_followed boolean not null default false;
comment on column postrider.scheduled.parent_id is 'as in ready';
comment on column postrider.scheduled.is_followed is 'as in ready';

create table postrider.trees (
  job_id bigint primary key,
  parent_id bigint,                        -- null: a root
  root_id bigint not null,
  depth smallint not null,                 -- of a root: 1
  kind "char" not null,                    -- b batch · c chain
  mode "char" not null,                    -- of a batch: a all · s settle · f first
  state "char" not null default 'w',       -- w waiting for its turn or its commit · o open · final ones as in results
  is_followed boolean not null default false,
  is_planted boolean not null default false,   -- its INSERT has committed, or is about to
  is_expanding boolean not null default false,  -- the members that each asks for are still to be made
  is_draining boolean not null default false,  -- final, and some members are still to be ended
  run int not null default 1,              -- how often it has begun: retry begins it anew, and what was told before is void
  max_parallel int,
  reached int not null default -1,         -- no member at a position up to here still waits
  children int not null default 0,
  released int not null default 0,         -- members that do not wait any more
  finished int not null default 0,
  failed int not null default 0,
  succeeded int not null default 0,
  failed_job_id bigint,                    -- the first that failed
  run_at timestamptz not null,             -- the latest of its own and its ancestors'
  expires_at timestamptz,                  -- the earliest of its own and its ancestors'
  started_at timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index trees_parent on postrider.trees (parent_id) where parent_id is not null;
create index trees_open on postrider.trees (job_id) where state in ('w', 'o');
create index trees_draining on postrider.trees (job_id) where is_draining;
comment on table postrider.trees is 'private: one row for each batch and chain: where it stands; read job_status';

create table postrider.members (
  job_id bigint primary key,
  parent_id bigint not null,
  position int not null,
  name text,
  is_waiting boolean not null default true,  -- its turn has not come; then it has no row elsewhere
  attempt int not null default 0,          -- of earlier runs, when retry has made it wait again
  rekey smallint not null default 0,
  item jsonb,                              -- the element of each that it was made for
  unique (parent_id, position)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create unique index members_name on postrider.members (parent_id, name) where name is not null;
comment on table postrider.members is 'private: which batch or chain a job belongs to, and its place there';

create table postrider.tree_deltas (
  id bigint generated always as identity primary key,
  tree_id bigint not null,
  run int not null,                        -- of the tree when it was told; the counts of an earlier run are void
  added int not null default 0,
  lowest int,                              -- the first position among those added
  released int not null default 0,         -- members that ended before they were let go
  finished int not null default 0,
  failed int not null default 0,
  succeeded int not null default 0,
  failed_job_id bigint
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.tree_deltas is
  'private: what has come to a batch or chain and what has ended in it, until settle adds it up';

create table postrider.resolved (
  job_id bigint primary key,
  url text,
  query jsonb,
  headers jsonb,
  body_json jsonb,
  body_form jsonb,
  body_parts jsonb
);
comment on table postrider.resolved is
  'private: columns of a job with the templates in them filled, written when its turn comes; null: the job''s own column holds';

-- Ends that are to be told

create table postrider.outcomes (like postrider.results including defaults, parent_id bigint, primary key (job_id));
comment on table postrider.outcomes is
  'private: jobs that have ended and whose callbacks, hooks and notices have not run; conclude moves each to results with what they wrote';

-- Specs

create type postrider.spec_node as (
  level int,                               -- of the root: 1
  parent int,                              -- its place, from 1, among the nodes of the level above
  "position" int,                          -- among its siblings, from 1; of a root null
  place text,                              -- in the spec, like $.chain[1].batch[0]
  kind text,
  parent_kind text,
  is_drawn boolean,                        -- in the "do" of an each: planted for each element, later
  spec jsonb,                              -- its columns, without what is below it
  each jsonb
);
comment on type postrider.spec_node is 'private: a job in a spec, as spec_nodes finds it';
