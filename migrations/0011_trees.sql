-- SPDX-License-Identifier: Apache-2.0
-- Batches and chains. trees has a row for each batch and chain, members one for each job inside one.
--
-- A finish never updates a shared row. It appends the end of a member of a batch to tree_deltas, and settle adds these
-- rows up. A chain has one step under way, so the finish of a step also advances the chain's own row. settle locks rows
-- only with SKIP LOCKED, so no two transactions wait for each other here.

create table postrider_internal.trees (
  job_id bigint primary key,
  parent_id bigint,                        -- null: a root
  root_id bigint not null,
  depth smallint not null,                 -- of a root: 1
  kind "char" not null,                    -- b batch · c chain
  mode "char" not null,                    -- of a batch: a all · s settle · f first
  state "char" not null default 'w',       -- w waiting for its turn or its commit · o open · final ones as in results
  has_callbacks boolean not null default false,
  is_counted boolean not null default false,   -- its INSERT has committed, or its members were counted
  is_expanding boolean not null default false,  -- members for elements of each are still missing
  is_draining boolean not null default false,  -- final, but some members must still be ended
  run int not null default 1,              -- number of runs; a retry starts a new run, earlier deltas do not count
  traced_run int not null default 0,       -- the last run whose span a worker has taken
  max_parallel int,
  -- 10,000 members inserted in one transaction delayed all other duties of the leader beyond the end of its lease.
  expanded int,                            -- elements of each with members so far; null: all, or none yet
  reached int not null default -1,         -- no member up to this position waits
  children int not null default 0,
  released int not null default 0,         -- members that no longer wait
  finished int not null default 0,
  failed int not null default 0,
  succeeded int not null default 0,
  failed_job_id bigint,                    -- the first that failed
  run_at timestamptz not null,             -- the latest of its own and its ancestors'
  expires_at timestamptz,                  -- the earliest of its own and its ancestors'
  started_at timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index trees_parent on postrider_internal.trees (parent_id) where parent_id is not null;
create index trees_open on postrider_internal.trees (job_id) where state in ('w', 'o');
create index trees_draining on postrider_internal.trees (job_id) where is_draining;
comment on table postrider_internal.trees is 'one row for each batch and chain with its state; read job_status';

create table postrider_internal.members (
  job_id bigint primary key,
  parent_id bigint not null,
  position int not null,
  name text,
  is_waiting boolean not null default true,  -- its turn has not come; it has no row elsewhere
  attempt int not null default 0,          -- attempts of earlier runs, if retry made it wait again
  rekey smallint not null default 0,
  item jsonb,                              -- the element of each for which it was made
  unique (parent_id, position)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create unique index members_name on postrider_internal.members (parent_id, name) where name is not null;
comment on table postrider_internal.members is 'the batch or chain of each member, and its position there';

create table postrider_internal.tree_deltas (
  id bigint generated always as identity primary key,
  tree_id bigint not null,
  run int not null,                        -- run of the tree; counts of an earlier run are dropped
  added int not null default 0,
  lowest int,                              -- the first position among those added
  released int not null default 0,         -- members that ended before they were released
  finished int not null default 0,
  failed int not null default 0,
  succeeded int not null default 0,
  failed_job_id bigint,
  is_expensive boolean not null default false,
  -- An open transaction may block a batch, for example by adding a member at the position of its next element. Then the
  -- batch is tried again later. All other batches and chains go on.
  due_at timestamptz,
  refused_since timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
-- Each INSERT that adds members to a batch or chain has an entry here; ends have none. With this index job_status
-- counts a member from its commit on, before a worker has added it.
create index tree_deltas_joins on postrider_internal.tree_deltas (tree_id) where added > 0;
create index tree_deltas_expensive on postrider_internal.tree_deltas (tree_id) where is_expensive;
comment on table postrider_internal.tree_deltas is
  'members added to and ended in a batch or chain, until settle adds them up';
comment on column postrider_internal.tree_deltas.is_expensive is
  'the next step reads large answers or has an expensive expression: a judging session adds this row up';
comment on column postrider_internal.tree_deltas.due_at is 'not added up before this time; null: at once';
comment on column postrider_internal.tree_deltas.refused_since is
  'when a shortage of the database first delayed the tree; null: no shortage';

create table postrider_internal.filled_templates (
  job_id bigint primary key,
  url text,
  query jsonb,
  headers jsonb,
  body_json jsonb,
  body_form jsonb,
  body_parts jsonb
);
comment on table postrider_internal.filled_templates is
  'columns of a job with their templates filled, written when its turn comes; null: the job''s own column applies';

-- Without an index: it is empty for all but the transaction that inserts.
create unlogged table postrider_internal.exempt_inserts (
  batch_id bigint not null
);
comment on table postrider_internal.exempt_inserts is
  'the batch whose members expand is inserting, which were checked with it; deleted in the same transaction';

-- Decisions: next_tree_action takes them, advance_tree carries them out.

create type postrider_internal.tree_action as enum (
  'wait',                                  -- nothing to do until a member joins or ends
  'begin',                                 -- open it
  'release',                               -- release the next members, as many as tree_room allows
  'continue_later',                        -- leave the rest to the next round of settle
  'lock_row',                              -- keep members from joining, and look for members that wait
  'check_expiry',                          -- ask tree_has_expired
  'succeed',
  'fail',                                  -- because of a member, or of its own list
  'fail_without_success',                  -- mode first, and no member has succeeded
  'expire'
);
comment on type postrider_internal.tree_action is 'what a batch or chain does next';

create type postrider_internal.tree_finding as enum (
  'counted',                               -- its counts have changed
  'due',                                   -- its turn has come
  'broken',                                -- its members cannot be made
  'expired',                               -- no call began before expires_at
  'not_expired',
  'postponed'                              -- this transaction must not go on with it
);
comment on type postrider_internal.tree_finding is 'what the last action for a batch or chain has found';

create type postrider_internal.waiting_members as enum (
  'expected',                              -- some member may wait
  'unlikely',                              -- none by the counts
  'locked',                                -- other transactions lock all members that wait
  'none'                                   -- none waits, and none can join: this transaction has locked the row
);
comment on type postrider_internal.waiting_members is 'what is known of the waiting members of a batch or chain';

create type postrider_internal.duty_mode as enum (
  'client',                                -- a user's session, which may do all work
  'finish',                                -- ends an attempt or a job; leaves what takes longer than 100 ms to settle
  'settle',                                -- the duties session, which sends heartbeats
  'tick',                                  -- the same session makes the jobs of a schedule; leaves all work to settle
  'judge'                                  -- the judging session, which may do all work for a limited time
);
comment on type postrider_internal.duty_mode is
  'the kind of session that begins members; finish and settle raise PR016 for work that only judge may do';

create type postrider_internal.ended_member as (
  tree_id bigint,                          -- its batch or chain
  job_id bigint,
  state "char"
);
comment on type postrider_internal.ended_member is 'a batch or chain that ended, to be counted in its parent';

create type postrider_internal.tree_task as (
  tree_id bigint,
  finding postrider_internal.tree_finding
);
comment on type postrider_internal.tree_task is 'a batch or chain that advance_tree has still to handle';

-- Specs

create type postrider_internal.spec_node as (
  level int,                               -- of the root: 1
  parent int,                              -- index, from 1, of its parent in the level above
  "position" int,                          -- among its siblings, from 1; of a root null
  place text,                              -- in the spec, like $.chain[1].batch[0]
  kind text,
  parent_kind text,
  is_in_each boolean,                        -- in the "do" of an each: inserted later for each element
  spec jsonb,                              -- its columns, without the jobs below it
  each jsonb
);
comment on type postrider_internal.spec_node is 'a job in a spec, as returned by spec_nodes';
