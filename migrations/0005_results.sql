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
  cache text,                              -- hit, or why there was no hit; null: the job has no cache_ttl
  encoding text,                           -- charset by which the body was read; null: not read
  result jsonb,                            -- the selected part of the body; null: the view parses the body
  primary key (job_id)
) partition by range (job_id);
create table postrider_internal.results_overflow partition of postrider_internal.results default;
create table postrider_internal.results_1 partition of postrider_internal.results
  for values from (minvalue) to (1000001);
create table postrider_internal.results_2 partition of postrider_internal.results
  for values from (1000001) to (2000001);
create index results_failures on postrider_internal.results (finished_at, job_id) where state in ('f', 'u', 'e');
-- For lists of jobs by state, as jobs_queue is for lists by queue. It has an entry for each unsuccessful job.
create index results_ends on postrider_internal.results (state, job_id) where state <> 's';
comment on table postrider_internal.results is
  'one row for each finished job, with the timings of its last attempt; read job_status and attempts';
comment on column postrider_internal.results.credential_version is 'version of the token that the call carried';
comment on column postrider_internal.results.server is
  'base_url of the called server; null: the service had no servers';

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
  -- retry_failed must not repeat an at_most_once job if a server may have acted on an earlier attempt. No server has
  -- acted on attempts that the worker itself repeats. A server may have acted on attempts that a user repeats.
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
  'attempts that did not end their job; the last attempt is in results';
comment on column postrider_internal.past_attempts.credential_version is 'as in results';
comment on column postrider_internal.past_attempts.refusals is
  'how many times in a row the database refused to prepare the call while it prepared others; null: none';
comment on column postrider_internal.past_attempts.ended_as is
  'state of the result of this attempt before a retry removed it; null: it did not end the job';
comment on column postrider_internal.past_attempts.gained_little is
  'whether a download that broke off brought less than 64 KiB; null: a counted attempt, or no download';
comment on column postrider_internal.past_attempts.server is 'as in results';

-- A separate table, so that jobs without an envelope pay nothing for it.
create table postrider_internal.envelope_errors (
  job_id bigint not null,
  fence bigint not null,                   -- of the attempt
  code text,                               -- null: an answer rule decided
  name text,                               -- of services.envelope or a rule; null: none
  primary key (job_id, fence)
);
comment on table postrider_internal.envelope_errors is
  'codes and names of errors by services.envelope and answer rules; read job_status, attempts or recent_failures';

-- A separate table, so that attempts without rules and stubs pay nothing for it.
create table postrider_internal.attempt_notes (
  job_id bigint not null,
  fence bigint not null,                   -- of the attempt
  rule text,                               -- the rule that decided, like service[2] graphql; null: none
  from_stub boolean not null default false,
  primary key (job_id, fence)
);
comment on table postrider_internal.attempt_notes is
  'attempts that an answer rule decided or a stub answered; read attempts';

-- Pages

-- A job continues after its last row here, so a crash between two pages loses nothing. The transaction that ends the
-- lease of a page writes the row, and only if the lease still held. So each page is stored once.
create table postrider_internal.fetched_pages (
  job_id bigint not null,
  page int not null,                       -- from 1
  url text not null,                       -- the called URL without user, password and service arguments
  status_code smallint,
  count int not null,                      -- number of items
  items jsonb not null,                    -- an array
  next text,                               -- the next page: a number, a cursor or an absolute URL; null: none
  cursor jsonb,                            -- a cursor keeps its type: 7 is not "7", and some are objects
  -- style link: the next URL as in jobs.url, relative to the service's base if the URL of the job is relative
  target text,
  bytes bigint not null,                   -- items of this page and all pages before, in bytes
  total int not null,                      -- number of these items
  bound int not null,                      -- the last page that max_pages allows
  is_stuck boolean not null default false, -- next cannot be followed; retry fetches this page again
  fetched_at timestamptz not null default now(),
  primary key (job_id, page)
);
create index fetched_pages_next on postrider_internal.fetched_pages (job_id, md5(next)) where next is not null;
comment on table postrider_internal.fetched_pages is
  'one row for each page that a job with paginate has fetched; read pages';
comment on column postrider_internal.fetched_pages.cursor is
  'styles page, offset and cursor: the value of param for the next page, for use in a JSON body';

-- Attempts that have ended. A worker sends them as one array of rows, which takes 3.5 µs a batch and 0.1 µs an
-- attempt. One array for each column took 45 µs and 1.3 µs.

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
comment on type postrider_internal.finished_attempt is 'how one attempt ended, as the worker reports it';
comment on column postrider_internal.finished_attempt.seq is
  'with track and fence: its row in ready, and the proof that the worker owned the attempt';
comment on column postrider_internal.finished_attempt.verdict is 'how the job goes on; see finish';
comment on column postrider_internal.finished_attempt.retry_after_ms is
  'with verdict r the minimum wait before the retry; with others the length of the lane pause';
comment on column postrider_internal.finished_attempt.dns is 'microseconds, like the four columns after it';
comment on column postrider_internal.finished_attempt.server is 'the called server; null: the service has no servers';
comment on column postrider_internal.finished_attempt.health is
  'what the call shows about its server; see record_server_calls';
comment on column postrider_internal.finished_attempt.credential is
  'the credential that the call carried, with its version';
comment on column postrider_internal.finished_attempt.cookies is
  'changes of the cookie jar by the call; null: none; see store_cookies';
comment on column postrider_internal.finished_attempt.redirected is
  'whether the answer came from another URL after a redirect';
comment on column postrider_internal.finished_attempt.left_origin is
  'whether a redirect led to another origin; its status is ignored for the credential';
comment on column postrider_internal.finished_attempt.landed_at is 'for jobs with paginate: the target of redirects';
comment on column postrider_internal.finished_attempt.cache is
  'hit, miss or the reason; set by judge, like the two columns after it';

-- finish passes these attempts on as one array. Four more INSERTs for each batch, most of them without rows, took 18 of
-- its fixed 69 µs.
create type postrider_internal.nonfinal_attempt as (
  seq bigint, job_id bigint, fence bigint, since timestamptz, track int, attempt int, max_attempts int, rekey smallint,
  at_most_once boolean, expires_at timestamptz, parent_id bigint, has_callbacks boolean, tried int[],
  outcome "char", retry_after_ms bigint, server int,
  dns int, connect int, tls int, first_byte int, total int, status smallint, reused boolean, http text, code text,
  ip text, error text, headers bytea, body bytea, sent bigint, received bigint, cache text, encoding text, result jsonb,
  base text, version bigint
);
comment on type postrider_internal.nonfinal_attempt is
  'an attempt that does not simply end its job, with its place in ready; headers, body and result only with callbacks';
