-- SPDX-License-Identifier: Apache-2.0
-- The jobs that users insert. A row is wide and never updated. Other tables hold the state and the result.

-- No NOT NULL and no CHECK here, because their errors quote the whole row, including passwords and bodies. The
-- statement trigger queue_new_jobs refuses bad rows and names the column.
--
-- extract and run_if are text, because SQLAlchemy, Django and Prisma do not know the type jsonpath. An INSERT checks
-- them.
create table postrider.jobs (
  -- which job it is, and its place in a batch or chain
  id bigint generated always as identity,
  kind text default 'request',
  parent_id bigint,
  position int,
  name text,
  -- where and when it runs
  queue text default 'default',
  lane text,
  priority smallint default 0,
  run_at timestamptz default now(),
  expires_at timestamptz,
  -- attempts
  timeout interval,
  max_attempts int default 5,
  backoff interval[],
  delivery text default 'at_least_once',
  dedupe_key text,
  on_duplicate text default 'error',
  -- the operation that describes the request
  operation text,
  arguments jsonb,
  -- the request
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
  max_redirects int,
  credential text,
  login_required boolean default false,
  -- the answer
  response_format text default 'raw',
  ok_statuses int4multirange,
  max_response bigint,
  decode boolean,
  use_envelope boolean,
  validator jsonb,
  extract text,
  result_type text default 'any',
  require_data boolean,
  download_to text,
  sha256 text,
  rules jsonb,
  -- the cache
  cache_ttl interval,
  cache_version bigint default 0,
  cache_sensitive text,
  ignore_cache boolean default false,
  -- pages
  paginate jsonb,
  -- batches and chains
  mode text default 'all',
  max_parallel int,
  each jsonb,
  run_if text,
  -- callbacks and webhooks
  on_success text,
  on_failure text,
  callback_url text,
  notify boolean default false,
  -- the trace that the job continues
  traceparent text,
  tracestate text,
  -- data of the user
  tag text,
  metadata jsonb,
  -- set by the database
  created_at timestamptz default now(),
  created_by text default current_user,
  operation_revision int,
  operation_rules jsonb,
  argument_types jsonb,
  primary key (id)
) partition by range (id);
-- The leader adds partitions ahead of the ids. A job whose partition is missing goes to the overflow.
create table postrider_internal.jobs_overflow partition of postrider.jobs default;
create table postrider_internal.jobs_1 partition of postrider.jobs for values from (minvalue) to (1000001);
create table postrider_internal.jobs_2 partition of postrider.jobs for values from (1000001) to (2000001);
create index jobs_tag on postrider.jobs (tag, id) where tag is not null;
-- For lists of jobs by queue. Without it, job_status would walk back from the newest job until it has found enough.
-- That takes long if the queue has few jobs.
create index jobs_queue on postrider.jobs (queue, id) where queue <> 'default';
-- For the members of a large batch.
create index jobs_parent on postrider.jobs (parent_id, id) where parent_id is not null;
comment on table postrider.jobs is
  'insert a row and a worker makes the call; rows are never updated, see job_status for state and result';
comment on column postrider.jobs.id is 'number of the job, given by the database';
comment on column postrider.jobs.kind is 'request, batch or chain';
comment on column postrider.jobs.parent_id is 'the batch or chain to which the job belongs; null: no parent';
comment on column postrider.jobs.position is 'place among the members of the parent; null: the next free place';
comment on column postrider.jobs.name is 'name for templates, unique among the members of the parent';
comment on column postrider.jobs.queue is 'decides which workers may take the job (worker --queue); members inherit it';
comment on column postrider.jobs.lane is
  'unit of limits and pauses, see lanes; null: the name of the service, otherwise host:port of the URL';
comment on column postrider.jobs.priority is
  'higher runs first, -100 to 100 (low -4, default 0, high 4); members inherit it';
comment on column postrider.jobs.run_at is 'the job does not start before this time';
comment on column postrider.jobs.expires_at is 'a job that has not started by this time ends as expired';
comment on column postrider.jobs.timeout is
  'limit of one attempt from connect to last byte; null: from parent or service, otherwise 60 s; no limit for '
  'downloads and sent files';
comment on column postrider.jobs.max_attempts is
  'the job fails after this many attempts with a retryable failure, 1 to 1000; a 429 does not count';
comment on column postrider.jobs.backoff is
  'waits between attempts, the last one repeats; null: random up to least(15 min, 1 s * 2^n)';
comment on column postrider.jobs.delivery is
  'at_least_once, or at_most_once: never sent again once bytes may have left; the job then ends as unknown';
comment on column postrider.jobs.dedupe_key is 'unique in its queue while the job is unfinished; null: no check';
comment on column postrider.jobs.on_duplicate is
  'if an unfinished job has the same dedupe_key: error, or skip (no row is inserted)';
comment on column postrider.jobs.operation is
  'row of operations that describes the request; copied into the job when it is inserted';
comment on column postrider.jobs.arguments is 'arguments of the operation, like {"id": 7}';
comment on column postrider.jobs.service is
  'row of services that gives base URL, headers, limits and credential; members with a relative URL inherit it';
comment on column postrider.jobs.method is 'GET, POST, HEAD, PUT, DELETE, PATCH or OPTIONS';
comment on column postrider.jobs.url is
  'absolute http or https URL, or relative to the base URL of the service; user:password in it becomes Basic auth';
comment on column postrider.jobs.use_cdn is 'true: join the URL to the CDN URL of the service';
comment on column postrider.jobs.query is 'object of scalars or arrays of scalars, added to the query of the URL';
comment on column postrider.jobs.headers is 'object of header name to text or array of text';
comment on column postrider.jobs.body is
  'request body, sent as it is; at most one of body, body_json, body_form and body_parts';
comment on column postrider.jobs.body_json is 'request body, sent as application/json';
comment on column postrider.jobs.body_form is
  'request body, sent as application/x-www-form-urlencoded; nested values as a[b]=1 and a[]=1';
comment on column postrider.jobs.body_parts is
  'request body, sent as multipart/form-data: array of objects with name, one of content, base64 or file, filename, '
  'type and max_bytes';
comment on column postrider.jobs.max_redirects is
  'most redirects that are followed, 0 to 10; 0: the 3xx is the answer; null: 5';
comment on column postrider.jobs.credential is
  'row of credentials for the login; none: no login; null: from the service; members inherit it with the service';
comment on column postrider.jobs.login_required is
  'true: end at once with not_logged_in while the credential is logged off';
comment on column postrider.jobs.response_format is 'raw, json (must parse) or xml (must be well formed)';
comment on column postrider.jobs.ok_statuses is 'statuses that count as success; null: {[200,300)}';
comment on column postrider.jobs.max_response is
  'largest body in bytes, as received and as decompressed; null: from the service, or 10 MiB';
comment on column postrider.jobs.decode is
  'false: store the body as received, with its Content-Encoding; null: decode gzip and deflate';
comment on column postrider.jobs.use_envelope is 'false: ignore services.envelope; null: apply it';
comment on column postrider.jobs.validator is
  'types that the JSON must match, like {"id": "number", "tags": ["string"]}';
comment on column postrider.jobs.extract is
  'jsonpath of the part of the JSON that becomes the result; null: result of services.envelope, otherwise all of it';
comment on column postrider.jobs.result_type is
  'any, list or object; a result of another type ends the job with no_data';
comment on column postrider.jobs.require_data is
  'true: an empty list, empty object or null as result ends the job with no_data; null: a success';
comment on column postrider.jobs.download_to is
  'path below the --files folder of the worker, for the body of the answer';
comment on column postrider.jobs.sha256 is 'expected SHA-256 of the download, in hex';
comment on column postrider.jobs.rules is
  'array of rules that state what an answer means, like [{"status": 404, "do": "retry"}]; the first match decides';
comment on column postrider.jobs.cache_ttl is
  'greatest age of a cached answer that may serve the job; null: no caching';
comment on column postrider.jobs.cache_version is
  'a cached answer serves the job only if it was stored with an equal value';
comment on column postrider.jobs.cache_sensitive is
  'a cached answer serves the job only if it was stored with an equal value';
comment on column postrider.jobs.ignore_cache is 'true: make the call in any case, and store its answer';
comment on column postrider.jobs.paginate is
  'object: how the job fetches a list page after page, like {"style": "page", "param": "page"}';
comment on column postrider.jobs.mode is
  'batch: all (each member must succeed), settle (members may fail) or first (one success is enough)';
comment on column postrider.jobs.max_parallel is 'batch: most members that run at once; null: all';
comment on column postrider.jobs.each is
  'batch: {"list": a template or an array, "do": a spec}; one member for each element, made when the batch begins';
comment on column postrider.jobs.run_if is
  'chain step: jsonpath over the earlier steps; the step is skipped unless it is true';
comment on column postrider.jobs.on_success is
  'row of callbacks; its function runs in the transaction that ends the job as succeeded';
comment on column postrider.jobs.on_failure is
  'row of callbacks; its function runs in the transaction that ends the job as failed, cancelled, expired or unknown';
comment on column postrider.jobs.callback_url is 'URL that gets a webhook when the job has ended';
comment on column postrider.jobs.notify is 'true: NOTIFY postrider_finished when the job has ended';
comment on column postrider.jobs.traceparent is
  'trace that the job continues, in the form of W3C Trace Context; members inherit it; null: none';
comment on column postrider.jobs.tracestate is
  'list of vendors'' values that goes with traceparent, like vendor=value; members inherit it with traceparent';
comment on column postrider.jobs.tag is 'your own text, for filters in job_status, cancel_all and retry_failed';
comment on column postrider.jobs.metadata is 'your own JSON; job_status and webhooks return it';
comment on column postrider.jobs.created_at is 'start of the transaction that inserted the job';
comment on column postrider.jobs.created_by is 'role that inserted the job';
comment on column postrider.jobs.operation_revision is 'revision of the operation that was copied';
comment on column postrider.jobs.operation_rules is 'rules of the operation, tried after the rules of the job';
comment on column postrider.jobs.argument_types is
  'types of the arguments that are templates, checked when they are filled; null: all arguments are values';

-- Keys of unfinished jobs

-- The row of a key stays when its job ends, so the end of a job needs no write here. An INSERT with the key checks
-- whether the job that owns it has ended.
create table postrider_internal.dedupe_keys (
  digest bytea primary key,                -- SHA-256 of queue and key, which together may be too long for an index
  job_id bigint not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.dedupe_keys is
  'the job that last took each dedupe_key; the key is free once that job has ended';

create table postrider_internal.dedupe_cursor (
  only_row boolean primary key default true check (only_row),
  reached bytea not null default '',
  due_at timestamptz not null default '-infinity'
) with (fillfactor = 10);
insert into postrider_internal.dedupe_cursor default values;
comment on table postrider_internal.dedupe_cursor is 'how far the leader has deleted keys of ended jobs';
