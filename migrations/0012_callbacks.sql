-- SPDX-License-Identifier: Apache-2.0
-- Callbacks are SQL functions that jobs name; they run when the job ends. Hooks are SQL functions that run for all jobs
-- of a service or queue, before a call or at the end. Webhooks are sent at the end. Failures are stored here too.
--
-- Jobs name a row of callbacks, never a function, so a role that may insert jobs cannot make a worker run code. Only
-- the owner may write these tables; their trigger checks it. Functions are stored as text, because columns of type
-- regprocedure would block pg_upgrade.

create table postrider.callbacks (
  name text primary key,
  function text not null,
  created_at timestamptz not null default now()
);
comment on table postrider.callbacks is
  'functions for jobs.on_success and jobs.on_failure; only members of postrider_owner may add a row';
comment on column postrider.callbacks.name is 'name in jobs.on_success and jobs.on_failure';
comment on column postrider.callbacks.function is
  'SQL function with its schema; it receives the id of the job, like app.on_paid(bigint)';
comment on column postrider.callbacks.created_at is 'when the row was inserted';

create table postrider.hooks (
  id bigint generated always as identity primary key,
  event text not null,
  function text not null,
  -- for which jobs
  service text,
  queue text,
  created_at timestamptz not null default now()
);
comment on table postrider.hooks is
  'SQL functions that run for each job of a service and queue; only members of postrider_owner may add a row';
comment on column postrider.hooks.id is 'number of the hook, given by the database';
comment on column postrider.hooks.event is
  'will_start: before the first call, in a separate transaction; will_stop and did_stop: before and after the '
  'callback, in the transaction that ends the job';
comment on column postrider.hooks.function is
  'SQL function with its schema; it receives the id of the job and the event, like app.on_event(bigint, text)';
comment on column postrider.hooks.service is 'the hook runs only for jobs of this service; null: all';
comment on column postrider.hooks.queue is 'the hook runs only for jobs of this queue; null: all';
comment on column postrider.hooks.created_at is 'when the row was inserted';

create table postrider_internal.callback_failures (
  id bigint generated always as identity primary key,
  job_id bigint not null,
  at timestamptz not null default clock_timestamp(),
  event text not null,                     -- on_success · on_failure · callback_url · one of hooks.event
  callback text,                           -- the name in the job
  function text,
  sqlstate text,
  error text not null
);
create index callback_failures_job on postrider_internal.callback_failures (job_id);
comment on table postrider_internal.callback_failures is
  'callbacks, hooks and webhooks that failed; read callback_errors';

create table postrider_internal.hook_starts (job_id bigint primary key);
comment on table postrider_internal.hook_starts is
  'unfinished jobs whose will_start hooks have run, so that a retry does not run them again';

create table postrider_internal.webhooks (job_id bigint primary key, source_job_id bigint not null);
-- A webhook reads its job when it is sent, so prune keeps a job while its webhook is unfinished.
create index webhooks_source on postrider_internal.webhooks (source_job_id);
comment on table postrider_internal.webhooks is
  'jobs inserted by conclude for a callback_url; the worker signs only calls of these';

-- Jobs that have ended, but whose callbacks, hooks and webhooks have not run. The columns up to result are the same as
-- in results.
create table postrider_internal.outcomes (
  job_id bigint not null,
  started_at timestamptz,
  finished_at timestamptz not null default now(),
  fence bigint not null default 0,
  worker int not null default 0,
  attempt int not null,
  track int not null default 0,
  dns_us int, connect_us int, tls_us int, first_byte_us int, total_us int,
  credential_version bigint,
  status_code smallint,
  rekey smallint not null default 0,
  state "char" not null,
  reused boolean,
  http_version text,
  error_code text,
  remote_ip text,
  server text,
  error text,
  headers bytea,
  body bytea,
  bytes_sent bigint,
  bytes_received bigint,
  cache text,
  encoding text,
  result jsonb,
  parent_id bigint,
  -- The end of the batch or chain has ended the job, so it does not count as failed. The end of the tree alone does not
  -- show this, because a user may have cancelled the member at the same moment.
  is_swept boolean not null default false,
  due_at timestamptz not null default now(),
  tries smallint not null default 0,
  dropped text[],
  failure text,
  primary key (job_id)
);
create index outcomes_due on postrider_internal.outcomes (due_at, job_id);
comment on table postrider_internal.outcomes is
  'ended jobs whose callbacks, hooks and webhooks have not run; conclude moves each to results';
comment on column postrider_internal.outcomes.credential_version is 'as in results';
comment on column postrider_internal.outcomes.server is 'as in results';
comment on column postrider_internal.outcomes.due_at is 'not concluded before this time';
comment on column postrider_internal.outcomes.tries is 'how often conclude has failed for this job';
comment on column postrider_internal.outcomes.dropped is
  'keys of functions that exceeded the time limit; they do not run again';
comment on column postrider_internal.outcomes.failure is 'why conclude failed the last time; null: unknown';
