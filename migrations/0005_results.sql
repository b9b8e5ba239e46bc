-- SPDX-License-Identifier: Apache-2.0
-- Results, earlier attempts, pages, and the types by which workers send ended attempts. Rows of results are never
-- updated.

create table postrider_internal.results (
  job_id bigint not null,
  started_at timestamptz,                  -- of the last attempt; null: never started
  finished_at timestamptz not null default now(),
  fence bigint not null default 0,
  worker int not null default 0,
  attempt int not null,
  track int not null default 0,
  dns_us int, connect_us int, tls_us int, first_byte_us int, total_us int,
  credential_version bigint,
  status_code smallint,
  rekey smallint not null default 0,
  state "char" not null,         -- s succeeded · f failed · c cancelled · e expired · k skipped · u unknown
  reused boolean,
  http_version text,
  error_code text,
  remote_ip text,
  server text,
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
create table postrider_internal.results_overflow partition of postrider_internal.results default;
create table postrider_internal.results_1 partition of postrider_internal.results
  for values from (minvalue) to (1000001);
create table postrider_internal.results_2 partition of postrider_internal.results
  for values from (1000001) to (2000001);
create index results_failures on postrider_internal.results (finished_at, job_id) where state in ('f', 'u', 'e');
-- For lists of jobs by state, as jobs_queue is for lists by queue. It has an entry for each job that does not succeed.
create index results_ends on postrider_internal.results (state, job_id) where state <> 's';
comment on table postrider_internal.results is
  'one row for each finished job, with the timings of its last attempt; read job_status and attempts';
comment on column postrider_internal.results.credential_version is 'of the token that the call carried';
comment on column postrider_internal.results.server is
  'base_url of the server that was called; null: the service had none';

create table postrider_internal.past_attempts (
  job_id bigint not null,
  fence bigint not null,
  started_at timestamptz not null,
  finished_at timestamptz not null default now(),
  worker int not null,
  attempt int not null,
  dns_us int, connect_us int, tls_us int, first_byte_us int, total_us int,
  credential_version bigint,
  status_code smallint,
  refusals smallint,
  -- retry_failed must not repeat an at_most_once job whose server may have acted on an earlier attempt. On attempts
  -- that the worker itself repeats no server has acted; on those that a person repeats one may have.
  ended_as "char",
  reused boolean,
  gained_little boolean,
  http_version text,
  error_code text,
  remote_ip text,
  server text,
  error text,
  bytes_sent bigint,
  bytes_received bigint,
  cache text,
  primary key (job_id, fence)
);
comment on table postrider_internal.past_attempts is
  'attempts that did not end their job; the last attempt stands in results';
comment on column postrider_internal.past_attempts.credential_version is 'as in results';
comment on column postrider_internal.past_attempts.refusals is
  'how often in a row the database has refused to prepare the call of this job, while it prepared others; null: it '
  'has not';
comment on column postrider_internal.past_attempts.ended_as is
  'state of the result that this attempt had brought, as in results, if a retry took it away; null: the attempt did '
  'not end its job';
comment on column postrider_internal.past_attempts.gained_little is
  'of a download that broke off: whether the attempt brought less than 64 KiB; null: the attempt used up one of '
  'max_attempts, or was no download';
comment on column postrider_internal.past_attempts.server is 'as in results';

-- A table of its own, so that jobs without an envelope pay nothing for it.
create table postrider_internal.envelope_errors (
  job_id bigint not null,
  fence bigint not null,                   -- of the try
  code text not null,
  name text,                               -- null: services.envelope has no name for the code
  primary key (job_id, fence)
);
comment on table postrider_internal.envelope_errors is
  'the codes inside answers that were no success, by services.envelope; read job_status, attempts or '
  'recent_failures';

-- Pages

-- A job goes on from its last row here, so a crash between two pages loses nothing. The transaction that takes the
-- lease of a page away writes the row, and only if the lease still held. So no page stands here twice.
create table postrider_internal.fetched_pages (
  job_id bigint not null,
  page int not null,                       -- from 1
  url text not null,                       -- what was called, without user and password and the service's arguments
  status_code smallint,
  count int not null,                      -- of the items
  items jsonb not null,                    -- an array
  next text,                               -- leads to the next page: a number, a cursor, an absolute URL; null: none
  cursor jsonb,                            -- a cursor keeps its type: 7 is not "7", and some are objects
  -- style link: the next URL as jobs.url would have it, relative to the service's base if the URL of the job is
  target text,
  bytes bigint not null,                   -- of the items of this page and all before
  total int not null,                      -- how many items these are
  bound int not null,                      -- the last page that max_pages allows
  is_stuck boolean not null default false, -- next cannot be followed; retry fetches this page again
  fetched_at timestamptz not null default now(),
  primary key (job_id, page)
);
create index fetched_pages_next on postrider_internal.fetched_pages (job_id, md5(next)) where next is not null;
comment on table postrider_internal.fetched_pages is
  'a row for each page that a job with paginate has fetched; read pages';
comment on column postrider_internal.fetched_pages.cursor is
  'styles page, offset and cursor: the value of param for the page after, as it goes into a JSON body';

-- Attempts that have ended. A worker sends them as one array of rows, which takes 3.5 µs a batch and 0.1 µs an
-- attempt. One array for each column took 45 and 1.3 µs.

create type postrider_internal.finished_attempt as (
  track int,
  seq bigint,
  fence bigint,
  job_id bigint,
  verdict "char",
  status smallint,
  code text,
  error text,
  headers bytea,
  body bytea,
  retry_after_ms bigint,
  dns int,
  connect int,
  tls int,
  first_byte int,
  total int,
  ip text,
  http text,
  reused boolean,
  sent bigint,
  received bigint,
  server int,
  health "char",
  credential text,
  version bigint,
  cookies text,
  redirected boolean,
  left_origin boolean,
  landed_at text,
  cache text,
  encoding text,
  result jsonb
);
comment on type postrider_internal.finished_attempt is 'how one attempt ended, as the worker tells it';
comment on column postrider_internal.finished_attempt.seq is
  'with track and fence: its row in ready, and the proof that the attempt was the worker''s';
comment on column postrider_internal.finished_attempt.verdict is 'what becomes of the job; see finish';
comment on column postrider_internal.finished_attempt.retry_after_ms is
  'with verdict r the least wait before the next try; with others how long the lane is to be paused';
comment on column postrider_internal.finished_attempt.dns is 'microseconds, like the four after it';
comment on column postrider_internal.finished_attempt.server is
  'the one of several servers that was called; null: there are none';
comment on column postrider_internal.finished_attempt.health is
  'what the call has shown of its server; see record_server_calls';
comment on column postrider_internal.finished_attempt.credential is 'what the call carried, in this version';
comment on column postrider_internal.finished_attempt.cookies is
  'what the call changed in its cookie jar; null: untouched; see store_cookies';
comment on column postrider_internal.finished_attempt.redirected is
  'whether the answer is that of another URL, to which a redirect led';
comment on column postrider_internal.finished_attempt.left_origin is
  'whether that is one of another origin, which got no token and whose word on it counts for nothing';
comment on column postrider_internal.finished_attempt.landed_at is 'of jobs with paginate, where redirects led';
comment on column postrider_internal.finished_attempt.cache is
  'hit, miss or the reason; set by judge, like the two after it';

-- finish puts these attempts aside as one array. Four more INSERTs for every batch, most of them for no row, took 18
-- of its fixed 69 µs.
create type postrider_internal.nonfinal_attempt as (
  seq bigint, job_id bigint, fence bigint, since timestamptz, track int, attempt int, max_attempts int, rekey smallint,
  at_most_once boolean, expires_at timestamptz, parent_id bigint, has_callbacks boolean, tried int[],
  outcome "char", retry_after_ms bigint, server int,
  dns int, connect int, tls int, first_byte int, total int, status smallint, reused boolean, http text, code text,
  ip text, error text, headers bytea, body bytea, sent bigint, received bigint, cache text, encoding text, result jsonb,
  base text, version bigint
);
comment on type postrider_internal.nonfinal_attempt is
  'an attempt, and the place of its job in ready, that does not simply end the job; headers, body and '
  'result only if the job is followed';
