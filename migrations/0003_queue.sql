-- SPDX-License-Identifier: Apache-2.0
-- The queue. The state of a job is the table that holds its row: ready (worker = 0: ready, otherwise running),
-- scheduled, results.
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
  -- True: a URL with this host and port has a good host and this lane (see queue_new_jobs). The port may be left out
  -- if it is the default of the scheme. http://h./ and http://h:080/ use the lane of http://h/. It is the same server,
  -- and no spelling of its URL may escape a limit or a pause.
  is_plain boolean not null generated always as
    (lane ~ '^[a-z0-9.-]*[a-z0-9-]:([1-9][0-9]{0,3}|[1-5][0-9]{4})$') stored,
  -- The first jobs of a track wait for it in track 0. While some still do, later ones wait behind them there.
  made_at timestamptz not null default clock_timestamp(),
  -- While a large INSERT with many lanes is fed, the newest tracks are its own. A survey looks at the newest of the
  -- others first.
  is_awaited boolean not null default true,
  last_used timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default now(),
  unique (queue, lane, priority)
  -- fillfactor leaves room for a newer version of a row on its page, since last_used is in no index.
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000);
create index tracks_lane on postrider_internal.tracks (lane);
create index tracks_priority on postrider_internal.tracks (priority, id);
create index tracks_awaited on postrider_internal.tracks (id) where is_awaited;
comment on table postrider_internal.tracks is
  'one row for each (queue, lane, priority) seen; made by the leader, never by an inserting transaction';
comment on column postrider_internal.tracks.made_at is
  'for a second from then on an INSERT looks whether others still wait for it';
comment on column postrider_internal.tracks.is_awaited is
  'false: made for lists of many lanes, which are fed at the speed of the workers';
comment on column postrider_internal.tracks.last_used is 'when an attempt of it ended, at most an hour late';

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
  'numbers of tracks that were removed a moment ago; rows that still come in with them are moved to track 0';
comment on column postrider_internal.removed_tracks.queues is 'the queue of each of the tracks';
comment on column postrider_internal.removed_tracks.lanes is 'the lane of each of the tracks';
comment on column postrider_internal.removed_tracks.horizon is
  'a transaction with a lower number may still know the tracks; null: not known yet';
comment on column postrider_internal.removed_tracks.transactions is
  'with horizon: the virtual numbers of transactions that may know the tracks from an old snapshot';
comment on column postrider_internal.removed_tracks.is_past is 'whether all these transactions have ended';

-- Ready and running

create sequence postrider_internal.fences;
comment on sequence postrider_internal.fences is 'each claim takes a value; a finish must carry the one of its claim';

create table postrider_internal.ready (
  seq bigint not null,                     -- order within the track: the job's id, or a fresh value of its sequence
  job_id bigint not null,
  fence bigint not null default 0,         -- of the claim that holds the row
  since timestamptz not null default now(),  -- became ready or, with a worker, was claimed
  track int not null,                      -- 0: the track does not exist yet
  worker int not null default 0,           -- 0: not claimed
  attempt int not null default 0,
  max_attempts int not null,
  rekey smallint not null default 0,       -- how often a person asked for a new Idempotency-Key
  at_most_once boolean not null default false,
  has_callbacks boolean not null default false,
  expires_at timestamptz,
  parent_id bigint,
  tried int[]
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_insert_threshold = -1);
-- The one index of the hot path. A claim changes none of its columns.
create unique index ready_track on postrider_internal.ready (track, seq);
-- Rows that left their first place (retried, promoted, reaped); all others are found by (track, seq = job id).
create unique index ready_moved on postrider_internal.ready (job_id) where seq <> job_id;
create index ready_expiry on postrider_internal.ready (expires_at) where expires_at is not null;
-- ready has no primary key. Without an identity, `create publication … for all tables` would make each claim fail.
-- The index is unique and whole, its columns are not null, and no claim changes them. So even with wal_level =
-- logical nothing more is written than the key in the entry of a DELETE.
alter table postrider_internal.ready replica identity using index ready_track;
comment on table postrider_internal.ready is 'jobs that are ready (worker = 0) or running';
comment on column postrider_internal.ready.has_callbacks is
  'the end of the job goes through outcomes: it has callbacks or the like';
comment on column postrider_internal.ready.parent_id is 'batch or chain that hears when the job has ended';
comment on column postrider_internal.ready.tried is
  'ids of the servers that failed this attempt; it goes on at another one';

-- Large INSERTs

-- A list holds the jobs of one lane, or of many. Otherwise an INSERT with one lane per row would leave one list per
-- row, and every later INSERT would queue behind all of them. A list whose ids have no gaps stores no ids. Making,
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
-- Lists of many lanes.
create index intake_bucket on postrider_internal.intake (bucket) where lane is null;
create index intake_crowd on postrider_internal.intake ((-priority::int), at, id) where lane is null;
comment on table postrider_internal.intake is
  'ids of jobs that came in by large INSERTs; the leader feeds them into ready, highest priority first';
comment on column postrider_internal.intake.queue is 'null: the list holds jobs of several queues, see queues';
comment on column postrider_internal.intake.lane is 'null: the list holds jobs of several lanes, see lanes';
comment on column postrider_internal.intake.max_attempts is
  'null: feed reads max_attempts, delivery, expires_at and followers from each job';
comment on column postrider_internal.intake.ids is 'null: all from first_id to last_id';
comment on column postrider_internal.intake.queues is 'the queue of each id; null: all are of the same queue';
comment on column postrider_internal.intake.lanes is 'the lane of each id; null: all are of the same lane';
comment on column postrider_internal.intake.bucket is
  'of a list with several lanes: which hashes of queue and lane it holds, see intake_buckets';
comment on column postrider_internal.intake.is_behind is
  'of a list with several lanes: some of them have jobs in earlier lists, which are fed first';

-- Unlogged: after a crash the leader feeds a little more than it would have.
create unlogged table postrider_internal.feed_cursors (
  priority smallint primary key,
  queue text,
  lane text,
  at timestamptz,
  tracks int[] not null default '{}',
  seqs bigint[] not null default '{}'
);
comment on table postrider_internal.feed_cursors is 'how far the leader has fed the intake, for each priority';
comment on column postrider_internal.feed_cursors.queue is
  'with lane: the lane that was fed last, of lists of one lane';
comment on column postrider_internal.feed_cursors.at is 'when a list of several lanes was fed last';
comment on column postrider_internal.feed_cursors.tracks is 'tracks fed by lists of several lanes';
comment on column postrider_internal.feed_cursors.seqs is 'of each of these tracks the last row fed';

-- Later

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
comment on table postrider_internal.scheduled is 'jobs with run_at ahead, and retries; the leader promotes them';
comment on column postrider_internal.scheduled.has_callbacks is 'as in ready';
comment on column postrider_internal.scheduled.has_slot is
  'run_at is its turn among the retries of a lane that fails, or a person''s wish: no retry budget moves it again';
comment on column postrider_internal.scheduled.parent_id is 'as in ready';
