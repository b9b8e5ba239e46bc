-- SPDX-License-Identifier: Apache-2.0
-- What: the tables of the queue. Where a job's row lives is its state:
--       ready (worker = 0: ready, else running) · scheduled · results (final).
-- Why:  jobs is wide and never updated; ready is narrow, and a claim only touches columns that no index
--       holds (a HOT update); results are only inserted. So the hot path leaves no index garbage behind,
--       and a watermark per track keeps its cost flat while an old transaction pins the vacuum horizon.
-- Cost: runs on an empty schema.

-- Identity of this installation; one row

create table postrider.settings (
  only_row boolean primary key default true check (only_row),
  installation uuid not null default gen_random_uuid(),
  idempotency_header text not null default 'Idempotency-Key'
    check (idempotency_header ~ '^[A-Za-z0-9!#$%&''*+.^_`|~-]+$')
);
insert into postrider.settings default values;
comment on table postrider.settings is
  'public: one row of settings that hold for the whole fleet; workers read it when they register';
comment on column postrider.settings.installation is 'first part of every Idempotency-Key';
comment on column postrider.settings.idempotency_header is
  'header that carries the key of a job on all its tries; not sent with GET, HEAD and OPTIONS';

-- What may go wrong

create table postrider.error_codes (
  code text primary key,
  number int not null,
  class text not null,
  retryable boolean not null,
  meaning text not null
);
comment on table postrider.error_codes is 'public: the closed list behind error_code';
insert into postrider.error_codes (code, number, class, retryable, meaning) values
  ('dns', 201, 'network', true, 'the host name could not be resolved'),
  ('connect', 202, 'network', true, 'nothing accepted the connection'),
  ('connect_timeout', 102, 'network', true, 'the connection was not up within the connect limit'),
  ('tls', 203, 'network', true, 'the TLS handshake broke off'),
  ('tls_verify', 204, 'network', false, 'the server''s certificate is not to be trusted'),
  ('proxy', 205, 'network', true, 'the proxy refused or failed'),
  ('send', 206, 'network', true, 'the request could not be sent whole'),
  ('first_byte_timeout', 207, 'network', true, 'the answer did not begin within the first-byte limit'),
  ('slow', 208, 'network', true, 'the transfer stayed below the low-speed limit'),
  ('timeout', 101, 'network', true, 'the attempt took longer than the job''s timeout'),
  ('reset', 209, 'network', true, 'the connection was reset or closed before the answer'),
  ('empty_reply', 210, 'network', true, 'the server closed the connection without a byte'),
  ('truncated', 211, 'network', true, 'the body ended before its announced length'),
  ('too_large', 212, 'network', false, 'the body is larger than the limit'),
  ('headers_too_large', 213, 'network', false, 'the header lines are larger than the limit'),
  ('decode', 214, 'network', true, 'the body''s content encoding is broken; tried again once'),
  ('http_status', -8, 'answer', false, 'the status is not among ok_statuses; some statuses are tried again'),
  ('http_429', 429, 'answer', true, 'the server asked to slow down'),
  ('json_invalid', 301, 'answer', false, 'the body is not JSON, or JSON that jsonb cannot hold'),
  ('xml_invalid', 302, 'answer', false, 'the body is not well-formed XML'),
  ('validator', -9, 'answer', false, 'the JSON has not the shape that the job asked for'),
  ('envelope', 303, 'answer', false, 'the code inside the answer is not a success'),
  ('no_data', 105, 'answer', false, 'the answer holds no data of the kind asked for'),
  ('no_more_data', 106, 'answer', false, 'there is no further page'),
  ('bad_url', 401, 'refused', false, 'the URL cannot be called'),
  ('denied_address', 402, 'refused', false, 'the address is private and private networks are not allowed'),
  ('denied_redirect', 403, 'refused', false, 'a redirect led where calls may not go, or there were too many'),
  ('bad_header', 404, 'refused', false, 'a header name or value breaks the grammar'),
  ('template', 405, 'refused', false, 'a template could not be filled'),
  ('config', 406, 'refused', false, 'a row that the job refers to is missing or wrong'),
  ('not_logged_in', 407, 'refused', false, 'the job needs a credential that is logged off'),
  ('refresh_failed', 501, 'token', true, 'the token could not be refreshed'),
  ('rejected_after_refresh', 502, 'token', false, 'the server refuses a token that is fresh'),
  ('refresh_excessive', 503, 'token', false, 'the token was refreshed too often in a short time'),
  ('token_expired', 801, 'envelope', false, 'the answer says that the token has expired'),
  ('logged_out', 802, 'envelope', false, 'the answer says that the user is logged out'),
  ('child_failed', 601, 'tree', false, 'a member of the batch or chain failed'),
  ('pagination_loop', 602, 'tree', false, 'a page led back to one seen before'),
  ('page_limit', 603, 'tree', false, 'there are more pages than max_pages'),
  ('cancelled', 103, 'life', false, 'cancelled by a person or a rule'),
  ('expired', 701, 'life', false, 'not finished before expires_at'),
  ('lost_worker', 702, 'life', true, 'the worker that ran the job died or hung'),
  ('callback', 703, 'life', false, 'a callback function failed'),
  ('internal', 704, 'life', false, 'a defect of Postrider itself; please report it'),
  ('file', 705, 'files', false, 'a file could not be read or written'),
  ('checksum', 706, 'files', false, 'the file''s checksum is not the one expected');

-- Jobs

-- No NOT NULL and no CHECK here: their errors quote the whole row, passwords and bodies with it. The statement trigger
-- queue_new_jobs refuses bad rows instead, and names the column.
create table postrider.jobs (
  id bigint generated always as identity,
  kind text default 'request',
  parent_id bigint,
  position int,
  name text,
  queue text default 'default',
  lane text,
  priority smallint default 0,
  run_at timestamptz default now(),
  expires_at timestamptz,
  timeout interval,
  max_attempts int default 5,
  backoff interval[],
  delivery text default 'at_least_once',
  dedupe_key text,
  on_duplicate text default 'error',
  service text,
  method text default 'GET',
  url text,
  use_cdn boolean default false,
  query jsonb,
  headers jsonb,
  body bytea,
  body_json jsonb,
  body_form jsonb,
  body_parts jsonb,
  credential text,
  login_required boolean default false,
  response_format text default 'raw',
  ok_statuses int4multirange,
  validator jsonb,
  extract jsonpath,
  result_type text default 'any',
  max_response bigint,
  download_to text,
  sha256 text,
  cache_ttl interval,
  cache_version bigint default 0,
  cache_sensitive text,
  ignore_cache boolean default false,
  paginate jsonb,
  run_if jsonpath,
  mode text default 'all',
  max_parallel int,
  on_success text,
  on_failure text,
  callback_url text,
  notify boolean default false,
  tag text,
  metadata jsonb,
  created_at timestamptz default now(),
  created_by text default current_user,
  primary key (id)
) partition by range (id);
create table postrider.jobs_overflow partition of postrider.jobs default;
create table postrider.jobs_1 partition of postrider.jobs for values from (minvalue) to (1000001);
create table postrider.jobs_2 partition of postrider.jobs for values from (1000001) to (2000001);
create index jobs_tag on postrider.jobs (tag, id) where tag is not null;

comment on table postrider.jobs is
  'public: insert a row and a worker makes the call. Rows are never updated; see job_status for what became of them';
comment on column postrider.jobs.id is 'given by the database; also the first seq of the job in its track';
comment on column postrider.jobs.kind is 'request, batch or chain';
comment on column postrider.jobs.parent_id is 'the batch or chain that the job belongs to';
comment on column postrider.jobs.position is 'place among the siblings';
comment on column postrider.jobs.name is 'unique among siblings; templates refer to it';
comment on column postrider.jobs.queue is 'which workers may take it (worker --queue)';
comment on column postrider.jobs.lane is 'unit of flow control towards the outside; null: the host:port of the URL';
comment on column postrider.jobs.priority is 'higher runs first; -100 to 100; low -4, default 0, high 4';
comment on column postrider.jobs.run_at is 'not started before';
comment on column postrider.jobs.expires_at is 'not started by then: the job ends as expired';
comment on column postrider.jobs.timeout is 'of one attempt, wall clock, from connect to last byte; null: 60 s';
comment on column postrider.jobs.max_attempts is 'tries that end in a retryable failure';
comment on column postrider.jobs.backoff is
  'waits between tries, the last one repeats; null: random between 0 and least(15 min, 1 s * 2^n)';
comment on column postrider.jobs.delivery is
  'at_least_once, or at_most_once: never sent again once bytes may have left, the job then ends as unknown';
comment on column postrider.jobs.dedupe_key is 'unique while the job is unfinished';
comment on column postrider.jobs.on_duplicate is 'error or skip';
comment on column postrider.jobs.service is 'row of services that gives base URL, headers, limits, credential';
comment on column postrider.jobs.method is 'GET, POST, HEAD, PUT, DELETE, PATCH or OPTIONS';
comment on column postrider.jobs.url is 'absolute http or https URL; user:password in it becomes Basic auth';
comment on column postrider.jobs.use_cdn is 'join the URL to the service''s CDN URL';
comment on column postrider.jobs.query is 'object; a value is a scalar or an array of scalars; added to the URL''s own query';
comment on column postrider.jobs.headers is 'object: name to text or array of text';
comment on column postrider.jobs.body is 'sent as it is';
comment on column postrider.jobs.body_json is 'sent as application/json';
comment on column postrider.jobs.body_form is
  'sent as application/x-www-form-urlencoded; nested values as a[b]=1 and a[]=1';
comment on column postrider.jobs.body_parts is 'sent as multipart/form-data';
comment on column postrider.jobs.credential is 'row of credentials to log in with';
comment on column postrider.jobs.login_required is 'fail at once while the credential is logged off';
comment on column postrider.jobs.response_format is 'raw, json (must parse) or xml (must be well formed)';
comment on column postrider.jobs.ok_statuses is 'which statuses are a success; null: {[200,300)}';
comment on column postrider.jobs.validator is 'the shape that the JSON must have';
comment on column postrider.jobs.extract is 'what of the JSON is stored as result';
comment on column postrider.jobs.result_type is 'any, list or object';
comment on column postrider.jobs.max_response is 'largest body in bytes, as received and as decompressed; null: 10 MiB';
comment on column postrider.jobs.download_to is 'path under the worker''s --files root';
comment on column postrider.jobs.sha256 is 'expected checksum of a download, in hex';
comment on column postrider.jobs.cache_ttl is 'null: no caching';
comment on column postrider.jobs.cache_version is 'part of the cache metadata';
comment on column postrider.jobs.cache_sensitive is 'part of the cache metadata';
comment on column postrider.jobs.ignore_cache is 'do not read the cache, still store';
comment on column postrider.jobs.paginate is 'fetch page after page';
comment on column postrider.jobs.run_if is 'chain step: skipped unless this is true over the earlier steps';
comment on column postrider.jobs.mode is 'batch: all, settle or first';
comment on column postrider.jobs.max_parallel is 'batch: how many children run at once';
comment on column postrider.jobs.on_success is 'row of callbacks run in the transaction that finishes the job';
comment on column postrider.jobs.on_failure is 'row of callbacks run in the transaction that finishes the job';
comment on column postrider.jobs.callback_url is 'a webhook is sent there when the job has finished';
comment on column postrider.jobs.notify is 'NOTIFY postrider_finished when the job has finished';
comment on column postrider.jobs.tag is 'the user''s own; never interpreted';
comment on column postrider.jobs.metadata is 'the user''s own; never interpreted';
comment on column postrider.jobs.created_at is 'start of the inserting transaction';
comment on column postrider.jobs.created_by is 'the role that inserted the job';

-- Tracks

create table postrider.tracks (
  id int generated always as identity primary key,
  queue text not null,
  lane text not null,
  priority smallint not null,
  created_at timestamptz not null default now(),
  -- A URL with this host and port, or this host and the port of its scheme, has a good host (see queue_new_jobs).
  is_plain boolean not null generated always as
    (lane ~ '^[a-z0-9.-]+:([1-9][0-9]{0,3}|[1-5][0-9]{4})$') stored,
  unique (queue, lane, priority)
);
comment on table postrider.tracks is
  'private: one row for each (queue, lane, priority) seen; made by the leader, never by an inserting transaction';

-- Ready and running

create sequence postrider.fences;
comment on sequence postrider.fences is 'private: each claim takes a value; a finish must carry the one of its claim';

create table postrider.ready (
  seq bigint not null,                     -- order within the track: the job's id, or a fresh value of the same sequence
  job_id bigint not null,
  fence bigint not null default 0,         -- of the claim that holds the row
  since timestamptz not null default now(),  -- became ready or, with a worker, was claimed
  track int not null,                      -- 0: the track does not exist yet
  worker int not null default 0,           -- 0: not claimed
  attempt int not null default 0,
  max_attempts int not null,
  rekey smallint not null default 0,       -- how often a person asked for a new Idempotency-Key
  at_most_once boolean not null default false,
  expires_at timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_insert_threshold = -1);
-- The one index of the hot path. A claim changes none of its columns.
create unique index ready_track on postrider.ready (track, seq);
-- Rows that left their first place (retried, promoted, reaped); all others are found by (track, seq = job id).
create unique index ready_moved on postrider.ready (job_id) where seq <> job_id;
create index ready_expiry on postrider.ready (expires_at) where expires_at is not null;
comment on table postrider.ready is 'private: jobs that are ready (worker = 0) or running';

create table postrider.intake (
  id bigint generated always as identity primary key,
  queue text not null,
  lane text not null,
  priority smallint not null,
  max_attempts int not null,
  at_most_once boolean not null,
  first_id bigint not null,
  last_id bigint not null,
  ids bigint[] not null,
  at timestamptz not null default now()
);
-- Compressing lists of ids cost a tenth of a large INSERT.
alter table postrider.intake alter ids set storage external;
comment on table postrider.intake is
  'private: ids of jobs that came in by large INSERTs; the leader feeds them into ready, highest priority first';

create table postrider.scheduled (
  run_at timestamptz not null,
  job_id bigint not null,
  track int not null,
  attempt int not null default 0,
  max_attempts int not null,
  rekey smallint not null default 0,
  at_most_once boolean not null default false,
  expires_at timestamptz,
  primary key (run_at, job_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
create unique index scheduled_job on postrider.scheduled (job_id);
create index scheduled_expiry on postrider.scheduled (expires_at) where expires_at is not null;
comment on table postrider.scheduled is 'private: jobs with run_at ahead, and retries; the leader promotes them';

-- Results

create table postrider.results (
  job_id bigint not null,
  started_at timestamptz,                  -- of the last attempt; null: never started
  finished_at timestamptz not null default now(),
  fence bigint not null default 0,
  worker int not null default 0,
  attempt int not null,
  track int not null default 0,
  dns_us int, connect_us int, tls_us int, first_byte_us int, total_us int,
  status_code smallint,
  rekey smallint not null default 0,
  state "char" not null,                   -- s succeeded · f failed · c cancelled · e expired · k skipped · u unknown
  reused boolean,
  http_version text,
  error_code text,
  remote_ip text,
  error text,
  headers bytea,                           -- lines "name: value", LF each, arrival order
  body bytea,
  bytes_sent bigint,
  bytes_received bigint,
  cache text,                              -- hit, or why there was none; null: the job asked for no cache
  encoding text,                           -- charset that the body was read by, if it was
  result jsonb,                            -- what was taken out of the body; null: the view parses the body
  primary key (job_id)
) partition by range (job_id);
create table postrider.results_overflow partition of postrider.results default;
create table postrider.results_1 partition of postrider.results for values from (minvalue) to (1000001);
create table postrider.results_2 partition of postrider.results for values from (1000001) to (2000001);
create index results_failures on postrider.results (finished_at, job_id) where state in ('f', 'u', 'e');
comment on table postrider.results is
  'private: one row for each finished job, with the timings of its last attempt; read job_status and attempts';

create table postrider.tries (
  job_id bigint not null,
  fence bigint not null,
  started_at timestamptz not null,
  finished_at timestamptz not null default now(),
  worker int not null,
  attempt int not null,
  dns_us int, connect_us int, tls_us int, first_byte_us int, total_us int,
  status_code smallint,
  reused boolean,
  http_version text,
  error_code text,
  remote_ip text,
  error text,
  bytes_sent bigint,
  bytes_received bigint,
  cache text,
  primary key (job_id, fence)
);
comment on table postrider.tries is
  'private: attempts that did not end their job; the last attempt stands in results';

-- Counters, appended by each finish and folded by the leader

create table postrider.tallies (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  track int not null,
  state "char" not null,                   -- as in results; r: retried
  jobs int not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.tallies is 'private: what each finish did, until the leader folds it into totals';

create table postrider.totals (
  minute timestamptz not null,
  queue text not null,
  state "char" not null,
  jobs bigint not null,
  primary key (queue, state, minute)
);
comment on table postrider.totals is
  'private: finished jobs by queue, state and minute; minutes older than an hour stand summed under minute -infinity';

-- Workers

create table postrider.workers (
  id int generated always as identity primary key,   -- the epoch: a worker that was declared lost gets a new one
  name text not null,
  version text not null,
  queues text[],                           -- null: all
  concurrency int not null,
  in_flight int not null default 0,
  draining boolean not null default false,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  ended_at timestamptz,
  lost boolean not null default false
) with (fillfactor = 50);
comment on table postrider.workers is 'private: one row for each start of a worker; read worker_status';

create unlogged table postrider.idle_workers (worker int primary key, since timestamptz not null default now());
comment on table postrider.idle_workers is
  'private: workers that want a NOTIFY for new jobs; the sequence idle_gate sums them up';

-- A flag that every INSERT reads: a sequence has one row version, however often it is set, while a table would fill
-- up with dead ones under a transaction held open for hours.
create sequence postrider.idle_gate minvalue 1 maxvalue 2;
comment on sequence postrider.idle_gate is
  'private: 2 while some worker wants a NOTIFY for new jobs, else 1; then an INSERT into jobs notifies nobody';

create table postrider.leases (
  name text primary key,
  owner int not null default 0,
  epoch bigint not null default 0,
  until timestamptz not null default '-infinity'
) with (fillfactor = 50);
insert into postrider.leases (name) values ('leader');
comment on table postrider.leases is 'private: who leads, until when; each leader statement checks its own row';

create table postrider.aborts (
  worker int not null,
  fence bigint not null,
  job_id bigint not null,
  primary key (worker, job_id, fence)
);
comment on table postrider.aborts is 'private: running calls that were cancelled; their worker takes the rows and aborts them';
