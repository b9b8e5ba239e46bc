-- SPDX-License-Identifier: Apache-2.0
-- What: answers that serve again, and who is fetching which of them now.
-- Why:  an entry is one row, metadata and body together, written by the transaction that finishes the job: there is no
--       moment in which one is there without the other. Bodies up to 2 kB lie in the row, larger ones in TOAST and
--       uncompressed: a hit copies them, and unpacking costs more than the disk that it saves.
-- Cost: runs on an empty schema.

create table postrider.cache_entries (
  key bytea primary key,                   -- postrider.cache_key, or postrider.cache_variant of it
  created_at timestamptz,                  -- when the answer came, or was last confirmed by a 304
  last_used timestamptz not null,          -- set by a hit, at most once a minute
  failed_at timestamptz,                   -- the last call for it that failed and was answered by stale_if_error
  version bigint not null,
  bytes bigint not null,                   -- what counts against settings.cache_max_bytes
  status smallint,
  is_strict boolean not null default false,  -- http mode: never served stale (must-revalidate, no-cache)
  sensitive text,
  app_version text,
  service text not null,
  namespace text not null,
  method text not null,
  url text not null,                       -- as shown: without user and password
  encoding text,
  ttl interval,                            -- of the job that stored it; the job that asks brings its own
  fresh interval,                          -- http mode: what the server allows; null: no say
  etag text,
  last_modified text,
  headers bytea,
  sha256 bytea,
  body bytea
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
-- No index holds last_used or failed_at, so noting them is a HOT update.
alter table postrider.cache_entries alter body set storage external;
comment on table postrider.cache_entries is
  'public: cached answers, one row for each key; see cache_status, and cache_put and cache_invalidate for changes by hand';
comment on column postrider.cache_entries.key is 'SHA-256 of method, URL, arguments, body, namespace and owner';
comment on column postrider.cache_entries.url is 'what cache_invalidate compares its pattern with';

create table postrider.cache_varies (
  key bytea primary key,
  salt bytea not null,                     -- a new row makes all variants before it unreachable; eviction takes them
  names text[] not null
);
comment on table postrider.cache_varies is
  'private: http mode: which request headers choose among the variants of an answer (Vary)';

create unlogged table postrider.cache_calls (
  job_id bigint not null,
  fence bigint not null,
  seq bigint not null,
  track int not null,
  leads boolean not null,                  -- others wait for this call
  asks boolean not null,                   -- it carries a validator of the entry
  key bytea not null,
  reason text not null,                    -- why the entry did not serve; attempts.cache
  etag text,
  last_modified text,
  at timestamptz not null default clock_timestamp(),
  primary key (job_id, fence)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create unique index cache_calls_lead on postrider.cache_calls (key) where leads;
comment on table postrider.cache_calls is
  'private: calls under way whose answer may be stored; unlogged: after a crash of the server such an answer is not stored, nothing else';

create unlogged table postrider.cache_waits (
  job_id bigint primary key,
  key bytea not null,
  seq bigint not null,                     -- its place among those that wait
  run_at timestamptz not null              -- of its row in scheduled; it is asked again then, whatever happens
);
create index cache_waits_key on postrider.cache_waits (key, seq);
comment on table postrider.cache_waits is
  'private: jobs that wait in scheduled for the same call that another job is making';

create unlogged table postrider.cache_passes (
  key bytea primary key,
  until timestamptz not null
);
comment on table postrider.cache_passes is
  'private: keys whose last answer could not be stored; until then nobody waits for anybody there';

create table postrider.cache_tallies (
  id bigint generated always as identity primary key,
  service text not null,
  outcome text not null,                   -- hit, miss, a reason, revalidated, stale; stored, evicted, invalidated
  jobs int not null,
  entries int not null default 0,          -- how many more there are now
  bytes bigint not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.cache_tallies is 'private: what happened in the cache, until the leader folds it into cache_totals';

create table postrider.cache_totals (
  service text not null,
  outcome text not null,
  jobs bigint not null,
  entries bigint not null,
  bytes bigint not null,
  primary key (service, outcome)
) with (fillfactor = 50);
comment on table postrider.cache_totals is 'private: cache_tallies, summed; read cache_status';

-- One row: how far the eviction under way has come.
create table postrider.cache_sweep (
  only_row boolean primary key default true check (only_row),
  before timestamptz,                      -- entries last used until then go; null: none is under way
  page bigint not null default 0,
  folded bigint not null default 0         -- the last tally that was folded
) with (fillfactor = 50);
insert into postrider.cache_sweep default values;
comment on table postrider.cache_sweep is 'private: the leader''s place in the cache';

alter table postrider.settings add cache_max_bytes bigint not null default 268435456 check (cache_max_bytes >= 0);
comment on column postrider.settings.cache_max_bytes is
  'what the cache may hold; beyond it the entries go that were not used for the longest time';
