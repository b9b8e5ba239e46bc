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
comment on column postrider.settings.installation is 'first part of every Idempotency-Key';
comment on column postrider.settings.idempotency_header is
  'header that carries the key of a job in all its attempts; not sent with GET, HEAD and OPTIONS';
comment on column postrider.settings.max_request_body is
  'most bytes of a request body as it is sent (64 KiB to 512 MiB), without streamed files of body_parts';
comment on column postrider.settings.judge_timeout is
  'time for expensive expressions of one answer or step, 10 ms to 1 min; beyond it the job fails as too_expensive';
comment on column postrider.settings.cache_max_bytes is
  'most bytes in the cache; beyond it the least recently used entries are removed';
comment on column postrider.settings.retention is
  'how long jobs are kept after their end, batches and chains as a whole; null: without limit';
comment on column postrider.settings.failed_retention is
  'the same for jobs that failed, expired or ended unknown; null: without limit';

-- Error codes

create table postrider.error_codes (
  code text primary key,
  number int not null,
  class text not null,
  retryable boolean not null,
  meaning text not null
);
comment on table postrider.error_codes is 'the closed list of values of error_code';
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
  ('no_more_data', 106, 'answer', false, 'a later page has no list where those before had one'),
  ('too_expensive', 304, 'answer', false,
    'an expression of the job takes longer than settings.judge_timeout; simplify it'),
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
  ('expired', 701, 'life', false, 'not started before expires_at'),
  ('lost_worker', 702, 'life', true, 'the worker that ran the job died or hung'),
  ('callback', 703, 'life', false, 'a callback function failed'),
  ('internal', 704, 'life', false,
    'the database could not store or prepare it, or a path of the job takes too long, see error; '
    'otherwise please report it'),
  ('file', 705, 'files', false,
    'a file could not be read or written; tried again where time may mend it: a full or failing disk, a path in use'),
  ('checksum', 706, 'files', false, 'the file''s checksum is not the one expected');

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
