-- SPDX-License-Identifier: Apache-2.0
-- Services: settings that many jobs share. A job names its service, and prepare looks it up before each call. So a
-- change applies to all workers from the next claim on.

create table postrider.services (
  name text primary key,
  -- target of its calls
  base_url text,
  cdn_url text,
  allow_private_network boolean not null default false,
  proxy text,
  interface text,
  tls jsonb,
  -- headers, query and cookies of its calls
  headers jsonb,
  query jsonb,
  -- False protects keys in the headers of the service: a job with an absolute URL of another origin does not carry
  -- them.
  apply_to_absolute boolean not null default false,
  credential text,
  cookies boolean not null default false,
  idempotency_header text,
  gzip_request boolean not null default false,
  -- limits of a call
  timeout interval,
  connect_timeout interval,
  first_byte_timeout interval,
  max_response bigint,
  max_wait interval not null default '24 hours',
  -- its answers
  envelope jsonb,
  html_is_502 boolean not null default false,
  rules jsonb,
  -- prepared answers for tests
  stub jsonb,
  -- the cache
  cache_mode text not null default 'client',
  cache_namespace text not null default '',
  cache_ignore text[] not null default '{}',
  stale_if_error interval,
  -- its servers
  min_calls int not null default 40,
  error_rate numeric not null default 0.10,
  cool_down interval not null default '30 s',
  -- A relative URL is valid if its service has a base_url or servers. The check of an inserted row is one expression
  -- that cannot read another table. Without this flag, a row for a service with only servers would take 300 µs instead
  -- of 15.
  has_servers boolean not null default false,
  created_at timestamptz not null default now()
);
comment on table postrider.services is
  'settings shared by the jobs that name the service; a change applies to each call that begins after it';
comment on column postrider.services.name is 'name in jobs.service; also the lane of its jobs, unless they name a lane';
comment on column postrider.services.base_url is
  'relative URLs of jobs are joined to it (RFC 3986); the base counts as a directory';
comment on column postrider.services.cdn_url is 'base URL for jobs with use_cdn';
comment on column postrider.services.allow_private_network is
  'true: calls to private, loopback and link-local addresses are allowed';
comment on column postrider.services.proxy is 'URL of a proxy: http, https, socks5 or socks5h';
comment on column postrider.services.interface is 'network interface or local address for the calls';
comment on column postrider.services.tls is
  'paths on the worker''s machine, and pins: {"ca": file, "certificate": file, "key": file, "pins": ["sha256//…"]}';
comment on column postrider.services.headers is
  'object of header name to text or array of text; a header of the job with the same name replaces it';
comment on column postrider.services.query is
  'object of name to scalar or array of scalars; a name in the query or URL of the job replaces it';
comment on column postrider.services.apply_to_absolute is
  'true: headers, query and cookies also go to absolute URLs of other origins than base_url, cdn_url and servers';
comment on column postrider.services.credential is 'row of credentials for jobs that name no credential';
comment on column postrider.services.cookies is 'true: keep a cookie jar for the service and each credential';
comment on column postrider.services.idempotency_header is
  'header that carries the key of a job; null: settings.idempotency_header';
comment on column postrider.services.gzip_request is 'true: compress request bodies with gzip';
comment on column postrider.services.timeout is 'limit of one attempt, for jobs without a timeout; null: 60 s';
comment on column postrider.services.connect_timeout is
  'limit of name lookup, connection and TLS handshake together; null: 10 s';
comment on column postrider.services.first_byte_timeout is
  'limit from the end of the request to the first byte of the answer; null: no separate limit';
comment on column postrider.services.max_response is
  'largest body in bytes, for jobs without max_response; null: 10 MiB';
comment on column postrider.services.max_wait is
  'a job fails after waiting this long because of 429 answers or refused tokens';
comment on column postrider.services.envelope is
  'for APIs that answer 200 with a code inside: {"code": "$.code", "success": [200], "message": "$.msg", "result": '
  '"$.data.result"}';
comment on column postrider.services.html_is_502 is
  'true: an HTML answer instead of JSON counts as status 502 and is retried';
comment on column postrider.services.rules is
  'array of rules that state what an answer means; tried after the rules of the job and its operation';
comment on column postrider.services.stub is
  'for tests: array of prepared answers; while it is set, jobs of the service make no call';
comment on column postrider.services.cache_mode is
  'client: only cache_ttl of the job decides; http: Cache-Control of the server decides, up to cache_ttl';
comment on column postrider.services.cache_namespace is
  'services with the same value share cached answers; empty: not shared';
comment on column postrider.services.cache_ignore is 'names of arguments that are not part of the cache key';
comment on column postrider.services.stale_if_error is
  'while calls fail, an answer too old by at most this interval may serve; null: it may not';
comment on column postrider.services.min_calls is 'error_rate applies to a server after this many calls';
comment on column postrider.services.error_rate is
  'share of failed calls (network, 502, 503, 504) that sets a server aside; above 0, at most 1';
comment on column postrider.services.cool_down is 'how long a server is set aside before one call probes it';
comment on column postrider.services.has_servers is 'set by Postrider: true if the service has rows in servers';
comment on column postrider.services.created_at is 'when the row was inserted';

-- Each preparation asks whether any service has a stub.
create index services_stub on postrider.services (name) where stub is not null;

-- Operations: an API described once. A job that names one gets its columns when it is inserted.
create table postrider.operations (
  name text primary key,
  service text references postrider.services on update cascade,
  description text,
  arguments jsonb not null default '{}',
  spec jsonb not null,
  overridable text[] not null default '{}',
  revision int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
comment on table postrider.operations is
  'requests, chains and batches described once; jobs name one and give its arguments';
comment on column postrider.operations.name is 'name in jobs.operation, call and specs';
comment on column postrider.operations.service is 'row of services for the request; null: none, or the one in spec';
comment on column postrider.operations.description is 'what the operation does, in your own words';
comment on column postrider.operations.arguments is
  'types of the arguments, like {"id": "number", "full?": "boolean"}; a name with ? may be missing';
comment on column postrider.operations.spec is
  'what submit takes, with {{arg.NAME}} where an argument stands, like {"url": "users/{{arg.id}}"}';
comment on column postrider.operations.overridable is
  'columns of the request that a job may give itself, like {body_json}';
comment on column postrider.operations.revision is 'set by Postrider: counts the changes; each job keeps its revision';
comment on column postrider.operations.created_at is 'when the row was inserted';
comment on column postrider.operations.updated_at is 'when the operation was last changed';

create type postrider_internal.argument_place as (
  path text[],      -- of the text in the columns of the operation
  kind "char",      -- u url · q query · h header · j JSON · f form · p part · a argument · x text · d metadata
  whole text,       -- the argument, if the text is nothing else; otherwise null
  parts text[]      -- of template_parts
);
comment on type postrider_internal.argument_place is 'a text of an operation that holds arguments';

-- The columns of a request in the types of jobs, in their order. An INSERT of many jobs reads one value with all of
-- them: a SELECT of so many columns takes 4 µs before it reads a row. A column is null if the operation does not give
-- it, or if arguments fill it.
create type postrider_internal.planned_job as (
  argument_names text[],
  argument_check jsonpath,
  url_start text,          -- a URL with one argument: the text before it, its name, and the text after it
  url_argument text,
  url_end text,
  query_leaves text[],     -- arguments that the query leaves out: all others are its keys; null: no such query
  body_json_leaves text[],
  body_form_leaves text[],
  fill_columns jsonb,      -- columns that hold other arguments
  fill_places postrider_internal.argument_place[],
  queue text, lane text, priority smallint, timeout interval, max_attempts int, backoff interval[], delivery text,
  on_duplicate text, service text, method text, url text, use_cdn boolean, query jsonb, headers jsonb, body bytea,
  body_json jsonb, body_form jsonb, max_redirects int, credential text, login_required boolean, response_format text,
  ok_statuses int4multirange, max_response bigint, decode boolean, use_envelope boolean, validator jsonb, extract text,
  result_type text, require_data boolean, download_to text, sha256 text, cache_ttl interval, cache_version bigint,
  cache_sensitive text, ignore_cache boolean, paginate jsonb, on_success text, on_failure text, callback_url text,
  notify boolean, tag text, metadata jsonb, operation_revision int, operation_rules jsonb
);
comment on type postrider_internal.planned_job is 'what an operation gives to a job, ready to be copied';

-- Written by the trigger of operations, so that an INSERT of a job parses no template.
create table postrider_internal.operation_plans (
  operation text primary key references postrider.operations on delete cascade on update cascade
    deferrable initially deferred,
  revision int not null,
  kind text not null,                      -- request, batch or chain
  columns jsonb not null,                  -- the spec with its service; for a request with the names of columns
  closed text[] not null,                  -- columns that a job may not give itself
  places postrider_internal.argument_place[] not null,
  types jsonb not null,                    -- operations.arguments
  argument_names text[] not null,
  argument_check jsonpath not null,        -- whether present arguments have their types and required ones are there
  job postrider_internal.planned_job       -- null: apply_operation reads columns and places
);
comment on table postrider_internal.operation_plans is 'operations, prepared for the INSERT of jobs';

-- An import must not overwrite what a user has changed since. The revision does not show it, because a change of the
-- description does not count as one.
create table postrider_internal.imported_operations (
  operation text primary key references postrider.operations on delete cascade on update cascade,
  digest bytea not null                    -- operation_digest when it was imported
);
comment on table postrider_internal.imported_operations is 'operations that worker operations import has written';

create table postrider_internal.cookies (
  service text not null references postrider.services on delete cascade on update cascade,
  credential text not null default '',
  line text not null,                      -- as libcurl writes them, fields separated by tabs
  domain text not null,
  path text not null,
  name text not null,
  login bigint not null default 0,         -- refreshes.login when the cookie came; 0: no login
  set_at timestamptz not null default now(),
  primary key (service, credential, domain, path, name)
) with (fillfactor = 70);
comment on table postrider_internal.cookies is 'the cookie jars, one for each service and credential';
