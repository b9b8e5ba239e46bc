-- SPDX-License-Identifier: Apache-2.0
-- Settings of the whole fleet, the closed list of error codes, and the secret of this database.
--
-- These files, 0001 to 0015, create tables, types, indexes and sequences in their final form. Functions, views and
-- triggers follow from functions/ and views/. Roles, owners and grants come last, from set_up_roles. See README.md.

create table postrider.settings (
  only_row boolean primary key default true check (only_row),
  -- requests
  installation uuid not null default gen_random_uuid(),
  idempotency_header text not null default 'Idempotency-Key'
    check (idempotency_header ~ '^[A-Za-z0-9!#$%&''*+.^_`|~-]+$'),
  -- A body of 200 MB takes a few MB in jobs, and three times its size in each worker that sends it.
  max_request_body bigint not null default 16777216,
  -- answers
  -- Without a limit, a jsonpath of one client kept the claiming session busy for 30 s, and plain jobs waited behind it.
  judge_timeout interval not null default '2 s',
  -- storage
  cache_max_bytes bigint not null default 268435456 check (cache_max_bytes >= 0),
  retention interval default '30 days',
  failed_retention interval default '90 days'
);
insert into postrider.settings default values;
comment on table postrider.settings is
  'one row with the settings of the whole fleet; workers read it when they register';
comment on column postrider.settings.only_row is 'always true, so that the table has one row';
comment on column postrider.settings.installation is
  'first part of every Idempotency-Key; a second live copy of the database needs another value';
comment on column postrider.settings.idempotency_header is
  'name of the header that carries the key of a job in all its attempts; not sent with GET, HEAD and OPTIONS';
comment on column postrider.settings.max_request_body is
  'largest request body in bytes as sent, 64 KiB to 512 MiB; streamed files of body_parts do not count';
comment on column postrider.settings.judge_timeout is
  'time limit for the expensive expressions of one answer or step, 10 ms to 1 min; above it the job fails with '
  'too_expensive';
comment on column postrider.settings.cache_max_bytes is
  'largest size of the cache in bytes; above it the least recently used entries are removed';
comment on column postrider.settings.retention is
  'how long ended jobs are kept, batches and chains as a whole; null: without limit';
comment on column postrider.settings.failed_retention is
  'how long jobs are kept that failed, expired or ended unknown; null: without limit';

-- Error codes

create table postrider.error_codes (
  code text primary key,
  number int not null,
  class text not null,
  retryable boolean not null,
  meaning text not null
);
comment on table postrider.error_codes is 'all values of error_code, with their meaning';
comment on column postrider.error_codes.code is 'value of error_code in job_status, attempts and recent_failures';
comment on column postrider.error_codes.number is 'fixed number of the code, for programs that store numbers';
comment on column postrider.error_codes.class is
  'network, answer, refused (before the call), token, envelope, tree (batches, chains, pages), life (of the job) or '
  'files';
comment on column postrider.error_codes.retryable is
  'true: a retry may help; for http_status the status decides, for file the cause';
comment on column postrider.error_codes.meaning is 'what happened, in one sentence';
insert into postrider.error_codes (code, number, class, retryable, meaning) values
  ('dns', 201, 'network', true, 'the host name could not be resolved'),
  ('connect', 202, 'network', true, 'no server accepted the connection'),
  ('connect_timeout', 102, 'network', true, 'the connection took longer than services.connect_timeout (default 10 s)'),
  ('tls', 203, 'network', true, 'the TLS handshake failed'),
  ('tls_verify', 204, 'network', false, 'the certificate of the server is not trusted'),
  ('proxy', 205, 'network', true, 'the proxy refused the call or failed'),
  ('send', 206, 'network', true, 'the request could not be sent completely'),
  ('first_byte_timeout', 207, 'network', true, 'the answer did not begin within services.first_byte_timeout'),
  ('slow', 208, 'network', true, 'the transfer stayed below the minimum speed for too long'),
  ('timeout', 101, 'network', true, 'the attempt took longer than the job''s timeout'),
  ('reset', 209, 'network', true, 'the connection was reset or closed before the answer'),
  ('empty_reply', 210, 'network', true, 'the server closed the connection without sending a byte'),
  ('truncated', 211, 'network', true, 'the body ended before its announced length'),
  ('too_large', 212, 'network', false, 'the body, or the list of all pages, is larger than its limit'),
  ('headers_too_large', 213, 'network', false, 'the headers of the answer are larger than the limit'),
  ('decode', 214, 'network', true,
    'the content encoding of the body is broken; retried once if the method is idempotent'),
  ('http_status', -8, 'answer', false, 'the status is not in ok_statuses; some statuses, such as 503, are retried'),
  ('http_429', 429, 'answer', true,
    'the server limits the rate of calls (429); the lane pauses, and the attempt is not counted'),
  ('json_invalid', 301, 'answer', false, 'the body is not JSON, or jsonb cannot store it'),
  ('xml_invalid', 302, 'answer', false, 'the body is not well-formed XML'),
  ('validator', -9, 'answer', false, 'the JSON does not match the validator of the job'),
  ('envelope', 303, 'answer', false, 'the code in the answer is not a success code of services.envelope'),
  ('no_data', 105, 'answer', false,
    'the answer has no data of the requested type, or an empty result with require_data'),
  ('no_more_data', 106, 'answer', false, 'a later page has no list, although earlier pages had one'),
  ('too_expensive', 304, 'answer', false,
    'an expression of the job takes longer than settings.judge_timeout; simplify it'),
  ('rule', 305, 'answer', false,
    'an answer rule of the job, its operation or its service decided that the answer is a failure'),
  ('bad_url', 401, 'refused', false, 'the URL cannot be called'),
  ('denied_address', 402, 'refused', false, 'the address is private, and allow_private_network is false'),
  ('denied_redirect', 403, 'refused', false,
    'a redirect or next page leads to a forbidden URL, or there were more than max_redirects'),
  ('bad_header', 404, 'refused', false, 'the name or value of a header is not valid'),
  ('template', 405, 'refused', false, 'a template could not be filled, for example because a value is missing'),
  ('config', 406, 'refused', false, 'a row that the job refers to is missing or wrong'),
  ('not_logged_in', 407, 'refused', false, 'the job needs a credential that is logged off'),
  ('refresh_failed', 501, 'token', true, 'the token could not be refreshed'),
  ('rejected_after_refresh', 502, 'token', false, 'the server refuses a newly fetched token'),
  ('refresh_excessive', 503, 'token', false, 'the token was refreshed too often in a short time'),
  ('token_expired', 801, 'envelope', false, 'the code in the answer means an expired token, by services.envelope'),
  ('logged_out', 802, 'envelope', false, 'the code in the answer means a logged-out user, by services.envelope'),
  ('child_failed', 601, 'tree', false, 'a member of the batch or chain failed'),
  ('pagination_loop', 602, 'tree', false, 'a page repeats an earlier page, or leads back to one'),
  ('page_limit', 603, 'tree', false, 'more pages exist than max_pages allows'),
  ('cancelled', 103, 'life', false, 'cancelled by a user, or because its batch or chain ended'),
  ('expired', 701, 'life', false, 'not started before expires_at'),
  ('lost_worker', 702, 'life', true,
    'the worker that ran the job crashed, stopped responding or was lost in a restore'),
  ('callback', 703, 'life', false, 'a callback, hook or webhook failed; see callback_errors'),
  ('internal', 704, 'life', false,
    'the worker or the database could not handle the job; if error names no remedy, please report it'),
  ('file', 705, 'files', false,
    'a file could not be read or written; temporary causes, such as a full disk, are retried'),
  ('checksum', 706, 'files', false, 'the checksum of the file differs from the expected one');

-- A function that runs as the owner cannot see its caller, because current_user is the owner. session_user and the
-- setting role do not help, because a function of the application may run as its own owner. So the caller passes a
-- ticket, which only a reader of the view tickets can get. The tickets are made with this secret.
create table postrider_internal.ticket_key (
  only_row boolean primary key default true check (only_row),
  secret bytea not null default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
);
insert into postrider_internal.ticket_key default values;
comment on table postrider_internal.ticket_key is
  'one row, readable only by the owner: the secret of the tickets of this database';

-- Acts of admins

-- Only record_admin_action writes it. It runs as the owner and is granted to postrider_admin alone. A worker may write
-- all other tables, but not this one.
create table postrider.admin_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  login text not null default session_user,
  action text not null,
  target jsonb not null,
  count bigint not null
);
comment on table postrider.admin_log is
  'acts of admins in the dashboard, one row each; rows are deleted after the longer retention of settings';
comment on column postrider.admin_log.at is 'when the transaction of the act, or of its first step, began';
comment on column postrider.admin_log.actor is 'user name given to the dashboard';
comment on column postrider.admin_log.login is 'database login that wrote the row; no caller can choose it';
comment on column postrider.admin_log.action is
  'retry, cancel, reschedule, pause-queue, resume-queue, pause-lane, resume-lane, run-schedule, switch-server or '
  'log-out';
comment on column postrider.admin_log.target is 'object of the act by its names, or the filter that selected its jobs';
comment on column postrider.admin_log.count is 'jobs or other objects that the act changed';
