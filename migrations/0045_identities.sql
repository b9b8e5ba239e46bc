-- SPDX-License-Identifier: Apache-2.0
-- What: the database stores which database it is, and each start of a worker has a random uuid.
-- Why:  a restored database has other jobs, leases and worker numbers than the workers remember. Workers compare what is stored
--       with the database they are connected to, and so find out that it was restored.
-- Cost: one small table, one null column; no rewrite.
-- breaking: yes

create table postrider.identities (
  number int generated always as identity primary key,
  id uuid not null default gen_random_uuid(),
  above_id bigint not null,
  system_identifier bigint not null,
  timeline int not null,
  database_oid oid not null,
  workers_oid oid not null,
  found_at timestamptz not null default clock_timestamp(),
  found_by text,
  lost_leases int,
  unknown_jobs int
);
comment on table postrider.identities is
  'private: one row for the installation and one for each restore that a worker has found; the row with the highest number holds; read postrider.restores';
comment on column postrider.identities.id is 'names this state of the database; workers that remember another id take over nothing. From number 2 on, the first part of the Idempotency-Key of jobs with an id above above_id';
comment on column postrider.identities.above_id is 'highest id of a job when the restore was found';
comment on column postrider.identities.workers_oid is 'oid of the table postrider.workers';
comment on column postrider.identities.found_by is 'name of the worker that found the restore; null for the installation';
comment on column postrider.identities.lost_leases is 'leases that the restored database held';
comment on column postrider.identities.unknown_jobs is 'how many of these leases were of at_most_once jobs, which ended as unknown';

insert into postrider.identities (above_id, system_identifier, timeline, database_oid, workers_oid)
select 0, s.system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int, d.oid,
       'postrider.workers'::regclass::oid
  from pg_control_system() s, pg_database d where d.datname = current_database();

alter table postrider.workers add column start_id uuid;
comment on column postrider.workers.start_id is 'random uuid of the process; only the process that knows it may take over the leases of this number';
