-- SPDX-License-Identifier: Apache-2.0
-- Workers, the lease of the leader, the phases of long calls, and the identity of the database.

create table postrider_internal.workers (
  id int generated always as identity primary key,   -- never used again; a worker declared lost gets a new one
  start_id uuid,
  name text not null,
  version text not null,
  environment text not null default 'release',
  queues text[],                           -- null: all
  concurrency int not null,
  -- as of its last heartbeat
  heartbeat_at timestamptz not null default now(),
  -- A worker that returns first after an outage was absent itself, so it cannot judge whether the other workers were
  -- silent.
  steady_since timestamptz not null default now(),
  in_flight int not null default 0,
  draining boolean not null default false,
  results_waiting int not null default 0,
  results_waiting_since timestamptz,
  waiting_jobs bigint[],
  judgements_waiting int not null default 0,
  judgements_since timestamptz,
  judging_jobs bigint[],
  -- start and end
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  lost boolean not null default false,
  -- reap tries again each second to take leases that were locked. With their places it need not search all of ready.
  locked_tracks int[],
  locked_seqs bigint[]
) with (fillfactor = 50);
comment on table postrider_internal.workers is 'one row for each start of a worker; read worker_status';
comment on column postrider_internal.workers.start_id is
  'random uuid of the process; only the process that knows it may take over the leases of this number';
comment on column postrider_internal.workers.environment is 'the environment whose rows of servers the worker uses';
comment on column postrider_internal.workers.steady_since is
  'since this time no two heartbeats were more than 6.8 s apart';
comment on column postrider_internal.workers.results_waiting is
  'results that the database has refused and that the worker retries, as of its last heartbeat';
comment on column postrider_internal.workers.results_waiting_since is
  'since when the worker has such results; null: none';
comment on column postrider_internal.workers.waiting_jobs is 'jobs of these results, at most 1000';
comment on column postrider_internal.workers.judgements_waiting is
  'answers that wait for the judging session, as of the last heartbeat';
comment on column postrider_internal.workers.judgements_since is
  'when the oldest of these answers came; null: none waits';
comment on column postrider_internal.workers.judging_jobs is
  'jobs whose answers wait for the judging session, as of the last heartbeat, at most 1000; null: none';
comment on column postrider_internal.workers.locked_tracks is
  'with locked_seqs: the places in ready of the leases that reap found locked';
comment on column postrider_internal.workers.locked_seqs is
  'null until reap has searched for the leases of an ended worker; then as many as its in_flight';

create unlogged table postrider_internal.idle_workers (
  worker int primary key,
  since timestamptz not null default now()
);
comment on table postrider_internal.idle_workers is
  'workers that want a NOTIFY for new jobs; the sequence idle_gate shows whether there are any';

-- A flag that each INSERT reads. A sequence has one row version, however often it is set. A table would fill up with
-- dead versions while a transaction stays open for hours.
create sequence postrider_internal.idle_gate minvalue 1 maxvalue 2;
comment on sequence postrider_internal.idle_gate is
  '2 while a worker wants a NOTIFY for new jobs, otherwise 1: then an INSERT into jobs sends none';

create table postrider_internal.leases (
  name text primary key,
  owner int not null default 0,
  epoch bigint not null default 0,
  until timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into postrider_internal.leases (name) values ('leader');
comment on table postrider_internal.leases is
  'the present leader and the end of its lease; each statement of the leader checks this row';

create table postrider_internal.aborts (
  worker int not null,
  fence bigint not null,
  job_id bigint not null,
  primary key (worker, job_id, fence)
);
comment on table postrider_internal.aborts is
  'running calls that were cancelled; their worker takes the rows and aborts them';

-- A worker with calls of over a second upserts their rows once a second. A transfer costs some 150 bytes of WAL a
-- second, a hanging call costs them once. The table is logged so that the view attempts works on a standby.
create table postrider_internal.progress (
  job_id bigint primary key,
  fence bigint not null,
  worker int not null,
  track int,
  seq bigint,
  attempt int,
  phase text,
  phase_since timestamptz,
  deadline timestamptz,
  done bigint not null,
  total bigint,
  at timestamptz not null default clock_timestamp()
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.progress is
  'the state of each call that runs for over a second; valid while its fence is the fence of the running claim';
comment on column postrider_internal.progress.track is
  'place of the job in ready, with seq; null: written by an older worker';
comment on column postrider_internal.progress.phase is 'as in attempts';
comment on column postrider_internal.progress.phase_since is 'as in attempts';
comment on column postrider_internal.progress.deadline is 'as in attempts';

-- Identity of the database

-- A restored database has other jobs, leases and worker numbers than its workers remember. Workers compare these rows
-- with the database they are connected to, and so find out that it was restored.
create table postrider_internal.identities (
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
comment on table postrider_internal.identities is
  'one row for the installation and for each restore found by a worker; the highest number is valid; see restores';
comment on column postrider_internal.identities.id is
  'names this state of the database; from number 2 on, the first part of Idempotency-Keys of jobs above above_id';
comment on column postrider_internal.identities.above_id is 'highest id of a job when the restore was found';
comment on column postrider_internal.identities.workers_oid is 'oid of the table postrider_internal.workers';
comment on column postrider_internal.identities.found_by is
  'name of the worker that found the restore; null for the installation';
comment on column postrider_internal.identities.lost_leases is 'leases that the restored database held';
comment on column postrider_internal.identities.unknown_jobs is
  'how many of these leases were of at_most_once jobs, which ended as unknown';
insert into postrider_internal.identities (above_id, system_identifier, timeline, database_oid, workers_oid)
select 0, s.system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int, d.oid,
       'postrider_internal.workers'::regclass::oid
  from pg_control_system() s, pg_database d where d.datname = current_database();

-- Ids start again after a restore, and a new job must not have the Idempotency-Key of another job. So jobs inserted
-- between a restore and the first worker need a new first part of the key.
--
-- The transaction of such an INSERT may commit after the first worker has deleted the rows. Its row then stays, and
-- after_identity shows end_restored of a later restore that it is out of date.
create table postrider_internal.early_inserts (
  first_id bigint primary key,
  after_identity int not null
);
comment on table postrider_internal.early_inserts is
  'the lowest id of each INSERT into jobs after a restore, until the first worker deletes the rows';
comment on column postrider_internal.early_inserts.first_id is 'the lowest id of the jobs of one statement';
comment on column postrider_internal.early_inserts.after_identity is
  'number of the newest identity at that time, which does not describe the restored database';
