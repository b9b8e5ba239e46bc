-- SPDX-License-Identifier: Apache-2.0
-- What: a track knows when it was used last. The leader removes tracks that have had no rows for a day, and notes their numbers until
--       no transaction can write them any more.
-- Why:  a client that names a new lane for each job left a row in tracks for each of them, and views read all tracks.
-- Cost: builds an index on scheduled; tracks that exist count as used now. Scheduling a job writes one more index entry.
-- breaking: no

alter table postrider.tracks add column last_used timestamptz not null default now();
alter table postrider.tracks alter column last_used set default clock_timestamp();
-- Room for a newer version of a row beside it: last_used is in no index.
alter table postrider.tracks set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000);
comment on column postrider.tracks.last_used is 'when an attempt of it ended, at most an hour late';

create index scheduled_track on postrider.scheduled (track);

create table postrider.removed_tracks (
  id bigint generated always as identity primary key,
  removed_at timestamptz not null default clock_timestamp(),
  tracks int[] not null,
  queues text[] not null,
  lanes text[] not null,
  horizon xid8,
  transactions text[],
  is_past boolean not null default false
);
comment on table postrider.removed_tracks is
  'private: numbers of tracks that were removed a moment ago; rows that still come in with them are moved to track 0';
comment on column postrider.removed_tracks.queues is 'the queue of each of the tracks';
comment on column postrider.removed_tracks.lanes is 'the lane of each of the tracks';
comment on column postrider.removed_tracks.horizon is
  'a transaction with a lower number may still know the tracks; null: not known yet';
comment on column postrider.removed_tracks.transactions is
  'with horizon: the virtual numbers of transactions that may know the tracks from an old snapshot';
comment on column postrider.removed_tracks.is_past is 'whether all these transactions have ended';
