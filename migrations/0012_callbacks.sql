-- SPDX-License-Identifier: Apache-2.0
-- Callbacks are SQL functions that jobs name, and they run when the job ends. Hooks are SQL functions that run for all
-- jobs of a service or queue, before a call or at the end. Webhooks are sent at the end. Failures are here, too.
--
-- Jobs name a row of callbacks, never a function: a role that may insert jobs cannot make a worker run code. Only the
-- owner may write these tables, and their trigger says so. Functions are kept as text: columns of type regprocedure
-- would block pg_upgrade.

create table postrider.callbacks (
  name text primary key,
  function text not null,
  created_at timestamptz not null default now()
);
comment on table postrider.callbacks is
  'what jobs.on_success and jobs.on_failure may name; only the owner of the schema may add one';
comment on column postrider.callbacks.function is
  'SQL function that takes the job''s id, with its schema, like app.on_paid(bigint)';

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
  'SQL functions that run for every job of a service and queue; only the owner of the schema may add one';
comment on column postrider.hooks.event is
  'will_start: before the first call, in a transaction of its own; will_stop and did_stop: before and after the '
  'callback, in the transaction that ends the job';
comment on column postrider.hooks.function is
  'SQL function that takes the job''s id and the event, with its schema, like app.on_event(bigint, text)';
comment on column postrider.hooks.service is 'for jobs of this service only; null: all';
comment on column postrider.hooks.queue is 'for jobs of this queue only; null: all';

create table postrider_internal.callback_failures (
  id bigint generated always as identity primary key,
  job_id bigint not null,
  at timestamptz not null default clock_timestamp(),
  event text not null,                     -- on_success · on_failure · callback_url · one of hooks.event
  callback text,                           -- the name that the job gave
  function text,
  sqlstate text,
  error text not null
);
create index callback_failures_job on postrider_internal.callback_failures (job_id);
comment on table postrider_internal.callback_failures is
  'callbacks, hooks and webhooks that failed; read callback_errors';

create table postrider_internal.hook_starts (job_id bigint primary key);
comment on table postrider_internal.hook_starts is
  'unfinished jobs whose will_start hooks have run; so a second try does not run them again';

create table postrider_internal.webhooks (job_id bigint primary key, source_job_id bigint not null);
-- A webhook reads its job when it is sent, so prune keeps a job while its webhook is unfinished.
create index webhooks_source on postrider_internal.webhooks (source_job_id);
comment on table postrider_internal.webhooks is
  'jobs that conclude made for a callback_url; the worker signs the calls of these and of no others';

-- Jobs that have ended and whose callbacks, hooks and webhooks have not run. Up to result, the columns are those that
-- results has.
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
  -- The end of the batch or chain has ended the job, so it has not failed, and is not counted as failed. That the
  -- batch was over says too little: a person may have cancelled the member in the same moment.
  is_swept boolean not null default false,
  due_at timestamptz not null default now(),
  tries smallint not null default 0,
  dropped text[],
  failure text,
  primary key (job_id)
);
create index outcomes_due on postrider_internal.outcomes (due_at, job_id);
comment on table postrider_internal.outcomes is
  'jobs that have ended and whose callbacks, hooks and notices have not run; conclude moves each to results '
  'with what they wrote';
comment on column postrider_internal.outcomes.credential_version is 'as in results';
comment on column postrider_internal.outcomes.server is 'as in results';
comment on column postrider_internal.outcomes.due_at is 'not concluded before';
comment on column postrider_internal.outcomes.tries is 'how often concluding it has failed as a whole';
comment on column postrider_internal.outcomes.dropped is
  'functions that ran out of time, by key; they are left out from then on';
comment on column postrider_internal.outcomes.failure is
  'why concluding it failed the last time; null where that is not known';
