-- SPDX-License-Identifier: Apache-2.0
-- Answers that serve again, and which calls are fetching which of them now.
--
-- An entry is one row, metadata and body together, written by the transaction that finishes the job. So neither is
-- ever there without the other. Bodies up to 2 kB lie in the row. Larger ones lie in TOAST and are not compressed,
-- because a hit copies them, and unpacking costs more than the disk space is worth.

create table postrider.cache_entries (
  -- which call it answers
  key bytea primary key,                   -- postrider_internal.cache_key, or postrider_internal.cache_variant of it
  service text not null,
  namespace text not null,
  method text not null,
  url text not null,                       -- as shown: without user and password
  version bigint not null,
  sensitive text,
  app_version text,
  -- the answer
  status smallint,
  headers bytea,
  encoding text,
  is_xml boolean not null default false,   -- a worker has read the body as XML (response_format xml)
  sha256 bytea,
  bytes bigint not null,                   -- what counts against settings.cache_max_bytes
  -- how long it serves
  ttl interval,                            -- of the job that stored it; the job that asks brings its own
  fresh interval,                          -- http mode: what the server allows; null: no say
  is_strict boolean not null default false,  -- http mode: never served stale (must-revalidate, no-cache)
  etag text,
  last_modified text,
  created_at timestamptz,                  -- when the answer came, or was last confirmed by a 304
  last_used timestamptz not null,          -- set by a hit, at most once a minute
  failed_at timestamptz,                   -- the last call for it that failed and was answered by stale_if_error
  body bytea
  -- No index holds last_used or failed_at, so noting them is a HOT update.
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
alter table postrider.cache_entries alter body set storage external;
comment on table postrider.cache_entries is
  'cached answers, one row for each key; see cache_status, and cache_put and cache_invalidate for changes by '
  'hand';
comment on column postrider.cache_entries.key is 'SHA-256 of method, URL, arguments, body, namespace and owner';
comment on column postrider.cache_entries.url is 'what cache_invalidate compares its pattern with';

create table postrider_internal.cache_varies (
  key bytea primary key,
  salt bytea not null,                     -- a new row makes all variants before it unreachable; eviction takes them
  names text[] not null,
  stored_at timestamptz not null default now()
);
create index cache_varies_stored on postrider_internal.cache_varies (stored_at);
comment on table postrider_internal.cache_varies is
  'http mode: which request headers choose among the variants of an answer (Vary)';
comment on column postrider_internal.cache_varies.stored_at is
  'when an answer was last stored that has it, to the hour; cache_evict goes by it, since a variant does not tell '
  'whose it is';

-- A POST to a service of cache_mode http outdates entries. An open transaction may have locked one of them, for
-- example by cache_invalidate. The finish of the POST then writes the key here and does not wait. Other calls of the
-- same worker do not wait either.
create table postrider_internal.pending_invalidations (
  id bigint generated always as identity primary key,
  key bytea not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create index pending_invalidations_key on postrider_internal.pending_invalidations (key);
comment on table postrider_internal.pending_invalidations is
  'keys of cached answers that a POST, PUT, PATCH or DELETE has outdated while somebody held them; the '
  'leader removes them';

-- Calls under way

-- An answer that arrives after another login, or after its service was changed, is not the one that such a call would
-- bring now. The next job that asks must neither be served it nor carry its cookies. And a job that would not be
-- served a call's answer has no reason to wait for it. So a call keeps the key and the app version with which it was
-- made.
create unlogged table postrider_internal.cache_flights (
  job_id bigint not null,
  fence bigint not null,
  seq bigint not null,
  track int not null,
  leads boolean not null,                  -- others wait for this call
  asks boolean not null,                   -- it carries a validator of the entry
  key bytea not null,
  base bytea,                              -- cache_key when the call was made
  app_version text,
  reason text not null,                    -- why the entry did not serve; attempts.cache
  etag text,
  last_modified text,
  at timestamptz not null default clock_timestamp(),
  primary key (job_id, fence)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create unique index cache_flights_lead on postrider_internal.cache_flights (key) where leads;
comment on table postrider_internal.cache_flights is
  'calls under way whose answer may be stored; unlogged: after a crash of the server such an answer is not '
  'stored, nothing else';

create unlogged table postrider_internal.cache_waits (
  job_id bigint primary key,
  key bytea not null,
  seq bigint not null,                     -- its place among those that wait
  run_at timestamptz not null              -- of its row in scheduled; it is asked again then, whatever happens
);
create index cache_waits_key on postrider_internal.cache_waits (key, seq);
comment on table postrider_internal.cache_waits is
  'jobs that wait in scheduled for the same call that another job is making';

create unlogged table postrider_internal.uncacheable_keys (
  key bytea primary key,
  until timestamptz not null
);
comment on table postrider_internal.uncacheable_keys is
  'keys whose last answer could not be stored; until then nobody waits for anybody there';

-- Counters

create table postrider_internal.cache_deltas (
  id bigint generated always as identity primary key,
  service text not null,
  outcome text not null,                   -- hit, miss, a reason, revalidated, stale; stored, evicted, invalidated
  jobs int not null,
  entries int not null default 0,          -- how many more there are now
  bytes bigint not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.cache_deltas is
  'what happened in the cache, until the leader folds it into cache_totals';

create table postrider_internal.cache_totals (
  service text not null,
  outcome text not null,
  jobs bigint not null,
  entries bigint not null,
  bytes bigint not null,
  primary key (service, outcome)
) with (fillfactor = 50);
comment on table postrider_internal.cache_totals is 'cache_deltas, summed; read cache_status';

-- One row: how far the eviction under way has come.
create table postrider_internal.cache_cursor (
  only_row boolean primary key default true check (only_row),
  before timestamptz,                      -- entries last used until then go; null: none is under way
  page bigint not null default 0,
  folded bigint not null default 0         -- the last tally that was folded
) with (fillfactor = 50);
insert into postrider_internal.cache_cursor default values;
comment on table postrider_internal.cache_cursor is 'the leader''s place in the cache';
