-- SPDX-License-Identifier: Apache-2.0
-- Cached answers, and the calls that are fetching answers now.
--
-- An entry is one row with metadata and body, written by the transaction that finishes the job. So metadata and body
-- always exist together. Bodies up to 2 kB are in the row. Larger ones are in TOAST and not compressed. A hit copies
-- them, and decompression costs more than the disk space is worth.

create table postrider.cache_entries (
  -- the call that it answers
  key bytea primary key,                   -- postrider_internal.cache_key, or postrider_internal.cache_variant of it
  service text not null,
  namespace text not null,
  method text not null,
  url text not null,                       -- without user and password
  version bigint not null,
  sensitive text,
  app_version text,
  -- the answer
  status smallint,
  headers bytea,
  encoding text,
  is_xml boolean not null default false,   -- a worker has checked the body as XML (response_format xml)
  sha256 bytea,
  bytes bigint not null,                   -- the size that counts for settings.cache_max_bytes
  -- how long it serves
  ttl interval,                            -- of the job that stored it; the served job uses its own
  fresh interval,                          -- http mode: lifetime given by the server; null: none
  is_strict boolean not null default false,  -- http mode: never served stale (must-revalidate, no-cache)
  etag text,
  last_modified text,
  created_at timestamptz,                  -- when the answer came, or was last confirmed by a 304
  last_used timestamptz not null,          -- set by a hit, at most once a minute
  failed_at timestamptz,                   -- when stale_if_error last answered a failed call for it
  body bytea
  -- No index holds last_used or failed_at, so recording them is a HOT update.
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
alter table postrider.cache_entries alter body set storage external;
comment on table postrider.cache_entries is
  'cached answers, one row for each key; change them with cache_put and cache_invalidate; see cache_status';
comment on column postrider.cache_entries.key is
  'SHA-256 of method, URL, arguments, body, namespace and owner of the credential';
comment on column postrider.cache_entries.service is 'service of the job that stored the answer; empty: no service';
comment on column postrider.cache_entries.namespace is
  'services.cache_namespace when the answer was stored; empty: not shared';
comment on column postrider.cache_entries.method is 'method of the call';
comment on column postrider.cache_entries.url is
  'URL of the call without user and password; cache_invalidate compares it with its pattern';
comment on column postrider.cache_entries.version is 'jobs.cache_version of the job that stored the answer';
comment on column postrider.cache_entries.sensitive is 'jobs.cache_sensitive of the job that stored the answer';
comment on column postrider.cache_entries.app_version is '--app-version of the worker, or the argument of cache_put';
comment on column postrider.cache_entries.status is 'status of the answer';
comment on column postrider.cache_entries.headers is 'headers of the answer, one on each line';
comment on column postrider.cache_entries.encoding is 'charset of the body; null: not known';
comment on column postrider.cache_entries.is_xml is 'true: a worker has checked that the body is well-formed XML';
comment on column postrider.cache_entries.sha256 is 'SHA-256 of the body; an entry with another body does not serve';
comment on column postrider.cache_entries.bytes is 'size in bytes that counts for settings.cache_max_bytes';
comment on column postrider.cache_entries.ttl is
  'jobs.cache_ttl of the job that stored the answer; a served job uses its own';
comment on column postrider.cache_entries.fresh is 'cache_mode http: lifetime given by the server; null: not given';
comment on column postrider.cache_entries.is_strict is
  'cache_mode http: true if the server forbids serving it when too old (must-revalidate, no-cache)';
comment on column postrider.cache_entries.etag is 'ETag of the answer, to ask the server whether it has changed';
comment on column postrider.cache_entries.last_modified is
  'Last-Modified of the answer, to ask the server whether it has changed';
comment on column postrider.cache_entries.created_at is 'when the answer came, or a 304 last confirmed it';
comment on column postrider.cache_entries.last_used is 'when the entry last served a job, to the minute';
comment on column postrider.cache_entries.failed_at is
  'when the entry last served a job whose call failed (stale_if_error)';
comment on column postrider.cache_entries.body is 'body of the answer';

create table postrider_internal.cache_varies (
  key bytea primary key,
  salt bytea not null,                     -- a new salt makes older variants unreachable until eviction
  names text[] not null,
  stored_at timestamptz not null default now()
);
create index cache_varies_stored on postrider_internal.cache_varies (stored_at);
comment on table postrider_internal.cache_varies is
  'http mode: the request headers that choose among the variants of an answer (Vary)';
comment on column postrider_internal.cache_varies.stored_at is
  'when an answer with this row was last stored, to the hour; cache_evict uses it';

-- A POST to a service with cache_mode http invalidates entries. An open transaction may have locked one of them, for
-- example by cache_invalidate. The finish of the POST then writes the key here and does not wait, so other calls of the
-- same worker do not wait either.
create table postrider_internal.pending_invalidations (
  id bigint generated always as identity primary key,
  key bytea not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create index pending_invalidations_key on postrider_internal.pending_invalidations (key);
comment on table postrider_internal.pending_invalidations is
  'keys of cached answers invalidated by a call while they were locked; the leader removes the answers';

-- Calls in flight

-- An answer may arrive after another login or after a change of its service. The same call would then bring another
-- answer. The next job must neither be served this one nor carry its cookies. A job also need not wait for an answer
-- that would not serve it. So a call stores the key and the app version with which it was made.
create unlogged table postrider_internal.cache_flights (
  job_id bigint not null,
  fence bigint not null,
  seq bigint not null,
  track int not null,
  leads boolean not null,                  -- other jobs wait for this call
  is_conditional boolean not null,         -- it carries a validator of the entry
  key bytea not null,
  base bytea,                              -- cache_key when the call was made
  app_version text,
  reason text not null,                    -- why the entry did not serve; shown in attempts.cache
  etag text,
  last_modified text,
  at timestamptz not null default clock_timestamp(),
  primary key (job_id, fence)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create unique index cache_flights_lead on postrider_internal.cache_flights (key) where leads;
comment on table postrider_internal.cache_flights is
  'calls in flight whose answer may be stored; unlogged, so after a crash such an answer is not stored';

create unlogged table postrider_internal.cache_waits (
  job_id bigint primary key,
  key bytea not null,
  seq bigint not null,                     -- its place among the waiting jobs
  run_at timestamptz not null              -- run_at of its row in scheduled, when it is due in any case
);
create index cache_waits_key on postrider_internal.cache_waits (key, seq);
comment on table postrider_internal.cache_waits is 'jobs in scheduled that wait for the same call by another job';

create unlogged table postrider_internal.uncacheable_keys (
  key bytea primary key,
  until timestamptz not null
);
comment on table postrider_internal.uncacheable_keys is
  'keys whose last answer could not be stored; no job waits for another call with such a key until then';

-- Counters

create table postrider_internal.cache_deltas (
  id bigint generated always as identity primary key,
  service text not null,
  outcome text not null,                   -- hit, miss, a reason, revalidated, stale; stored, evicted, invalidated
  jobs int not null,
  entries int not null default 0,          -- change of the number of entries
  bytes bigint not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.cache_deltas is
  'events of the cache, until the leader folds them into cache_totals';

create table postrider_internal.cache_totals (
  service text not null,
  outcome text not null,
  jobs bigint not null,
  entries bigint not null,
  bytes bigint not null,
  primary key (service, outcome)
) with (fillfactor = 50);
comment on table postrider_internal.cache_totals is 'sums of cache_deltas; read cache_status';

create table postrider_internal.cache_cursor (
  only_row boolean primary key default true check (only_row),
  before timestamptz,                      -- entries last used before this time are evicted; null: no eviction
  page bigint not null default 0,
  folded bigint not null default 0         -- the last delta that was folded
) with (fillfactor = 50);
insert into postrider_internal.cache_cursor default values;
comment on table postrider_internal.cache_cursor is 'the leader''s position in the cache';
