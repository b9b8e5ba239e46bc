-- SPDX-License-Identifier: Apache-2.0
-- What: how long ended jobs are kept, how far the leader has come in forgetting them, and what was forgotten when.
-- Why:  tables that only grow end a product. Ranges of ids are dropped as a whole, which costs the same however many rows
--       they have; rows are deleted only where a range cannot go.
-- Cost: an index of webhooks; jobs that ended more than 30 (90) days ago go from now on, unless the settings say otherwise.

alter table postrider.settings
  add retention interval default '30 days',
  add failed_retention interval default '90 days';
comment on column postrider.settings.retention is
  'how long a job is kept after its end, a batch or chain with all in it; null: for ever';
comment on column postrider.settings.failed_retention is
  'the same for a job that failed, expired or ended unknown; null: for ever';

create table postrider.prune_mark (
  only_row boolean primary key default true check (only_row),
  part text,                               -- ending of the table names of the range that is looked through; null: between two rounds
  reached bigint not null default 0        -- the last id seen there
) with (fillfactor = 50);
insert into postrider.prune_mark default values;
comment on table postrider.prune_mark is 'private: how far the leader has come in looking for jobs to forget';

create table postrider.prunes (
  day date primary key,
  first_id bigint not null,
  last_id bigint not null,
  jobs bigint not null
);
comment on table postrider.prunes is
  'private: one row for each day on which jobs were forgotten: between which ids, and how many; says so to who asks for one';

create table postrider.prune_leftovers (
  first_id bigint primary key,
  last_id bigint not null
);
comment on table postrider.prune_leftovers is
  'private: ranges of ids whose jobs were dropped; their rows in other tables are still to be deleted';

-- A webhook reads its job when it is sent.
create index webhooks_source on postrider.webhooks (source_job_id);
