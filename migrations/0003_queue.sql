-- SPDX-License-Identifier: Apache-2.0
-- The queue. The table that holds the row of a job is its state: ready (worker = 0: ready, otherwise running),
-- scheduled, results. ARCHITECTURE.md lists the other tables.
--
-- ready is narrow, and a claim changes only columns that no index holds (a HOT update). So the hot path leaves no
-- dead index entries. Each worker claims behind a watermark per track, which keeps the cost flat while an old
-- transaction pins the vacuum horizon.

-- Tracks

create table postrider_internal.tracks (
  id int generated always as identity primary key,
  queue text not null,
  lane text not null,
  priority smallint not null,
  -- True: a URL with this host and port has a valid host and belongs to this lane (see queue_new_jobs). The port may be
  -- missing if it is the default of the scheme. http://h./ and http://h:080/ use the lane of http://h/. It is the same
  -- server, and no spelling of its URL may escape a limit or a pause.
  is_plain boolean not null generated always as
    (lane ~ '^[a-z0-9.-]*[a-z0-9-]:([1-9][0-9]{0,3}|[1-5][0-9]{4})$') stored,
  -- The first jobs of a track wait for it in track 0. While some still wait there, later jobs queue behind them.
  made_at timestamptz not null default clock_timestamp(),
  -- While a large INSERT with many lanes is fed, most of the newest tracks are its own. A survey visits the newest of
  -- the other tracks first.
  is_awaited boolean not null default true,
  last_used timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default now(),
  unique (queue, lane, priority)
  -- fillfactor leaves room for a newer version of a row on its page, because no index holds last_used.
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000);
create index tracks_lane on postrider_internal.tracks (lane);
create index tracks_priority on postrider_internal.tracks (priority, id);
create index tracks_awaited on postrider_internal.tracks (id) where is_awaited;
comment on table postrider_internal.tracks is
  'one row for each (queue, lane, priority) seen; added by the leader, never by an inserting transaction';
comment on column postrider_internal.tracks.made_at is
  'for one second from this time an INSERT checks whether earlier jobs still wait for the track';
comment on column postrider_internal.tracks.is_awaited is
  'false: added for lists of several lanes, which are fed at the speed of the workers';
comment on column postrider_internal.tracks.last_used is
  'when an attempt of the track last ended, at most an hour late';

-- A client that names a new lane for each job leaves a row in tracks for each of them, and views read all tracks. So
-- the leader removes tracks that have had no rows for a day. It keeps their numbers here until no transaction can
-- write them.
create table postrider_internal.removed_tracks (
  id bigint generated always as identity primary key,
  removed_at timestamptz not null default clock_timestamp(),
  tracks int[] not null,
  queues text[] not null,
  lanes text[] not null,
  horizon xid8,
  transactions text[],
  is_past boolean not null default false
);
comment on table postrider_internal.removed_tracks is
  'numbers of recently removed tracks; rows that still arrive with them are moved to track 0';
comment on column postrider_internal.removed_tracks.queues is 'the queue of each of the tracks';
comment on column postrider_internal.removed_tracks.lanes is 'the lane of each of the tracks';
comment on column postrider_internal.removed_tracks.horizon is
  'a transaction with a lower number may still know the tracks; null: not known yet';
comment on column postrider_internal.removed_tracks.transactions is
  'with horizon: the virtual numbers of transactions that may know the tracks from an old snapshot';
comment on column postrider_internal.removed_tracks.is_past is 'whether all these transactions have ended';

-- Ready and running

create sequence postrider_internal.fences;
comment on sequence postrider_internal.fences is 'each claim takes a value; a finish must carry the value of its claim';

create table postrider_internal.ready (
  seq bigint not null,                     -- order within the track: the job's id, or a fresh value of its sequence
  job_id bigint not null,
  fence bigint not null default 0,         -- the claim that holds the row
  since timestamptz not null default now(),  -- became ready or, with a worker, was claimed
  track int not null,                      -- 0: the track does not exist yet
  worker int not null default 0,           -- 0: not claimed
  attempt int not null default 0,
  max_attempts int not null,
  rekey smallint not null default 0,       -- how many new Idempotency-Keys: by retry, and one for each page
  at_most_once boolean not null default false,
  has_callbacks boolean not null default false,
  expires_at timestamptz,
  parent_id bigint,
  tried int[]
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_insert_threshold = -1);
-- The one index of the hot path. A claim changes none of its columns.
create unique index ready_track on postrider_internal.ready (track, seq);
-- Rows that left their first place (retried, promoted, reaped). All others are found by (track, seq = job id).
create unique index ready_moved on postrider_internal.ready (job_id) where seq <> job_id;
create index ready_expiry on postrider_internal.ready (expires_at) where expires_at is not null;
-- ready has no primary key. Without an identity, `create publication … for all tables` would make each claim fail.
-- The index is unique and complete, its columns are not null, and no claim changes them. So even with wal_level =
-- logical PostgreSQL writes nothing more than the key of a deleted row.
alter table postrider_internal.ready replica identity using index ready_track;
comment on table postrider_internal.ready is 'jobs that are ready (worker = 0) or running';
comment on column postrider_internal.ready.has_callbacks is
  'the end of the job goes through outcomes, because it has callbacks, callback_url or notify';
comment on column postrider_internal.ready.parent_id is 'batch or chain that counts the end of the job';
comment on column postrider_internal.ready.tried is
  'ids of the servers that failed this attempt; it goes on at another server';

-- Large INSERTs

-- A list holds the jobs of one lane or of several. Otherwise an INSERT with one lane per row would leave one list per
-- row, and each later INSERT would queue behind all of them. A list whose ids have no gaps stores no ids. Making,
-- storing and logging them took 0.2 µs a row, a twentieth of a large INSERT.
create table postrider_internal.intake (
  id bigint generated always as identity primary key,
  queue text,
  lane text,
  priority smallint not null,
  max_attempts int,
  at_most_once boolean,
  first_id bigint not null,
  last_id bigint not null,
  ids bigint[],
  queues text[],
  lanes text[],
  jobs int not null generated always as (coalesce(cardinality(ids), (last_id - first_id + 1)::int)) stored,
  bucket int,
  is_behind boolean not null default false,
  at timestamptz not null default now(),
  constraint intake_kind check ((lane is null) = (lanes is not null and bucket is not null and ids is not null))
);
-- Compressing the lists took a tenth of a large INSERT.
alter table postrider_internal.intake
  alter ids set storage external, alter queues set storage external, alter lanes set storage external;
-- Lists of one lane: their turn, and whether a track has rows there. An INSERT over a thousand lanes leaves a
-- thousand lists.
create index intake_turn
  on postrider_internal.intake ((-priority::int), queue, lane, first_id, id) where lane is not null;
-- Lists of several lanes.
create index intake_bucket on postrider_internal.intake (bucket) where lane is null;
create index intake_crowd on postrider_internal.intake ((-priority::int), at, id) where lane is null;
comment on table postrider_internal.intake is
  'ids of jobs of large INSERTs; the leader feeds them into ready, highest priority first';
comment on column postrider_internal.intake.queue is 'null: the list holds jobs of several queues, see queues';
comment on column postrider_internal.intake.lane is 'null: the list holds jobs of several lanes, see lanes';
comment on column postrider_internal.intake.max_attempts is
  'null: feed reads max_attempts, delivery, expires_at and callbacks from each job';
comment on column postrider_internal.intake.ids is 'null: all ids from first_id to last_id';
comment on column postrider_internal.intake.queues is 'the queue of each id; null: all have the same queue';
comment on column postrider_internal.intake.lanes is 'the lane of each id; null: all have the same lane';
comment on column postrider_internal.intake.bucket is
  'for lists of several lanes: the hashes of queue and lane in the list, see intake_buckets';
comment on column postrider_internal.intake.is_behind is
  'for lists of several lanes: some lanes have jobs in earlier lists, which are fed first';

-- Unlogged: after a crash the leader feeds a little more than otherwise.
create unlogged table postrider_internal.feed_cursors (
  priority smallint primary key,
  queue text,
  lane text,
  at timestamptz,
  tracks int[] not null default '{}',
  seqs bigint[] not null default '{}'
);
comment on table postrider_internal.feed_cursors is 'how far the leader has fed the intake for each priority';
comment on column postrider_internal.feed_cursors.queue is
  'with lane: the lane that was fed last from lists of one lane';
comment on column postrider_internal.feed_cursors.at is 'when a list of several lanes was fed last';
comment on column postrider_internal.feed_cursors.tracks is 'tracks fed from lists of several lanes';
comment on column postrider_internal.feed_cursors.seqs is 'the last row fed in each of these tracks';

-- Scheduled jobs

create table postrider_internal.scheduled (
  run_at timestamptz not null,
  job_id bigint not null,
  track int not null,
  attempt int not null default 0,
  max_attempts int not null,
  rekey smallint not null default 0,
  at_most_once boolean not null default false,
  has_callbacks boolean not null default false,
  has_slot boolean not null default false,
  expires_at timestamptz,
  parent_id bigint,
  primary key (run_at, job_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
create unique index scheduled_job on postrider_internal.scheduled (job_id);
create index scheduled_track on postrider_internal.scheduled (track);
create index scheduled_expiry on postrider_internal.scheduled (expires_at) where expires_at is not null;
comment on table postrider_internal.scheduled is
  'jobs with run_at in the future, and retries; the leader promotes them';
comment on column postrider_internal.scheduled.has_callbacks is 'as in ready';
comment on column postrider_internal.scheduled.has_slot is
  'run_at is the slot of a retry in a failing lane, or was set by a user; no retry budget moves it again';
comment on column postrider_internal.scheduled.parent_id is 'as in ready';
