-- SPDX-License-Identifier: Apache-2.0
-- The leader removes old jobs, and stores its position and its record here. It drops ranges of ids as a whole, which
-- costs the same for any number of rows. It deletes rows only if a range cannot be dropped.

create table postrider_internal.prune_cursor (
  only_row boolean primary key default true check (only_row),
  part text,                               -- name suffix of the range being read; null: between passes
  reached bigint not null default 0        -- the last id seen there
) with (fillfactor = 50);
insert into postrider_internal.prune_cursor default values;
comment on table postrider_internal.prune_cursor is 'how far the leader has searched for jobs to delete';

create table postrider_internal.prunes (
  day date primary key,
  first_id bigint not null,
  last_id bigint not null,
  jobs bigint not null
);
comment on table postrider_internal.prunes is
  'one row for each day on which jobs were deleted: their range of ids and how many; used in error messages';

create table postrider_internal.prune_leftovers (
  first_id bigint primary key,
  last_id bigint not null
);
comment on table postrider_internal.prune_leftovers is
  'ranges of ids whose jobs were dropped, but not yet their rows in other tables';

-- Scanning a range takes a second for a million jobs. A job that is retried meanwhile is recorded here, and the drop is
-- given up if the job may be affected. So a retry never waits for the end of the scan.
create unlogged table postrider_internal.rerun_jobs (
  first_id bigint not null
);
comment on table postrider_internal.rerun_jobs is
  'jobs retried since the last scan of prune_range: the job''s id, or the id of its root';
