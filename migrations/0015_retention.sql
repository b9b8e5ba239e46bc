-- SPDX-License-Identifier: Apache-2.0
-- The leader removes old jobs, and keeps its place and its record here. It drops ranges of ids as a whole, which costs
-- the same for any number of rows. It deletes rows only if a range cannot be dropped.

create table postrider_internal.prune_cursor (
  only_row boolean primary key default true check (only_row),
  part text,                               -- ending of the table names of the range being read; null: between rounds
  reached bigint not null default 0        -- the last id seen there
) with (fillfactor = 50);
insert into postrider_internal.prune_cursor default values;
comment on table postrider_internal.prune_cursor is 'how far the leader has come in looking for jobs to forget';

create table postrider_internal.prunes (
  day date primary key,
  first_id bigint not null,
  last_id bigint not null,
  jobs bigint not null
);
comment on table postrider_internal.prunes is
  'one row for each day on which jobs were forgotten: between which ids, and how many; says so to who asks '
  'for one';

create table postrider_internal.prune_leftovers (
  first_id bigint primary key,
  last_id bigint not null
);
comment on table postrider_internal.prune_leftovers is
  'ranges of ids whose jobs were dropped; their rows in other tables are still to be deleted';

-- Reading through a range takes a second for a million jobs. A job that is retried meanwhile is noted here, and the
-- reading is given up if it could matter. So a retry never waits for the end of the reading.
create unlogged table postrider_internal.rerun_jobs (
  first_id bigint not null
);
comment on table postrider_internal.rerun_jobs is
  'jobs that run again since prune_range last began to look: the job''s id, of what belongs to a batch or '
  'chain that of its root';
