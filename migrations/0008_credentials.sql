-- SPDX-License-Identifier: Apache-2.0
-- Credentials, their secrets, how far the refresh of each token is, and which jobs wait for it.
--
-- A job names a credential, or its service does. Its row is looked up when the job is about to be called. The row
-- that users see holds no secret. Rows that change with each login and refresh are locked only when a token is
-- refused or fetched, never by calls that go well.

create table postrider.credentials (
  name text primary key,
  -- kind, place and origins of the secret
  kind text,
  place jsonb,
  allowed_origins text[],
  -- Some APIs refuse an ended token by 400, 403 or 404.
  expired_statuses int4multirange not null default '{[401,402)}',
  -- how tokens are fetched
  token_url text,
  client_id text,
  -- Some token endpoints want client_id and client_secret in the form.
  client_auth text not null default 'basic',
  scope text,
  refresh jsonb,
  allow_private_network boolean default false,
  -- kept by Postrider
  state text default 'logged_off',
  version bigint default 0,
  expires_at timestamptz,
  created_at timestamptz default now()
) with (fillfactor = 50);
comment on table postrider.credentials is
  'what jobs log in with; the secrets come by log_in or worker credential set and are never shown; see '
  'credential_status';
comment on column postrider.credentials.name is
  'jobs.credential and services.credential refer to it; cannot be changed';
comment on column postrider.credentials.kind is
  'basic, bearer, api_key, oauth2_client_credentials, oauth2_refresh_token or custom';
comment on column postrider.credentials.place is
  'where a call carries the secret: {"header": name, "prefix": text}, {"query": name}, {"form": name} or {"json": '
  'key}, or a list of them, of which the first that fits the request is used; null: Authorization';
comment on column postrider.credentials.allowed_origins is
  'origins like https://api.example.com that calls may carry it to; null: those of the job''s service, or where a '
  'job that names it leads';
comment on column postrider.credentials.expired_statuses is
  'statuses by which the API says that the token has ended; the job is sent again with a newer one';
comment on column postrider.credentials.token_url is 'the oauth2 kinds: where tokens come from';
comment on column postrider.credentials.client_id is 'the oauth2 kinds: sent to token_url as client_auth says';
comment on column postrider.credentials.client_auth is
  'how the client says who it is at token_url: basic, as Basic auth; post, client_id and client_secret in the form; '
  'none, client_id alone';
comment on column postrider.credentials.scope is 'the oauth2 kinds: what is asked for';
comment on column postrider.credentials.refresh is
  'custom: {"method": "POST", "url": …, "headers": …, "body_json": {"refreshToken": "{{refresh_token}}"}, '
  '"access_token": "$.…", "refresh_token": "$.…", "expires_in": "$.…"}';
comment on column postrider.credentials.allow_private_network is
  'the token''s own URL may be a private, loopback or link-local address';
comment on column postrider.credentials.state is
  'active, refreshing, cooldown (a refresh failed and is tried again) or logged_off';
comment on column postrider.credentials.version is 'grows with each login and refresh';
comment on column postrider.credentials.expires_at is 'when the token ends, if that is known; it is refreshed before';

-- Without it, a credential that was deleted and inserted again would count from 0 again. Late tokens, late answers
-- and late sealed secrets would then be taken for those of the new credential.
create table postrider_internal.credential_versions (
  name text primary key,
  next bigint not null                     -- more than any that a credential of this name has had
);
comment on table postrider_internal.credential_versions is
  'no version of a credential is used twice, though it be deleted and inserted again; rows stay, on purpose';

create table postrider_internal.secrets (
  credential text primary key references postrider.credentials on delete cascade,
  version bigint not null,
  sealed bytea,                            -- names and values, by a worker's key; otherwise plain
  plain jsonb,                             -- as log_in was given them, until a worker with a key sees them
  has_token boolean not null,              -- whether there is something to send yet
  spare_sealed bytea,                      -- the ones before, until these have been accepted; or what a refresher
  spare_plain jsonb                        --   brought too late
) with (fillfactor = 50);
comment on table postrider_internal.secrets is 'the secrets of credentials, sealed; nobody but the worker reads them';

create table postrider_internal.refreshes (
  credential text primary key references postrider.credentials on delete cascade,
  -- logins
  logins int not null default 0,           -- log-ins and log-outs; answers cached before are another user's
  login bigint not null default 0,         -- of the last login or logout, from fences: no two have the same
  login_version bigint not null default 0, -- tokens of an earlier version are another user's
  -- the refresh under way
  epoch bigint not null default 0,         -- from fences; 0: no refresh is under way
  worker int not null default 0,
  until timestamptz,                       -- the refresh is another worker's to make after this
  began_at timestamptz,
  -- the next refresh
  due_at timestamptz not null default now(),
  is_early boolean not null default false, -- the token is still good: calls go on meanwhile
  failures int not null default 0,         -- in a row, none of them final
  -- One odd answer of a token endpoint must not log the credential off, so refusals are counted.
  refusals int not null default 0,         -- by the token endpoint, in a row, none of them final
  refused_since timestamptz,               -- when the first of them came
  -- past refreshes
  refreshes bigint not null default 0,
  refreshed_at timestamptz,                -- when the present token came by a refresh; null: by a login
  last_refresh_at timestamptz,
  last_error text,
  -- endpoints that refuse the token
  accepted_by text[] not null default '{}',   -- endpoints that have taken the present token; two at most
  forced_at timestamptz,                   -- when a refused job last set off a refresh
  held_since timestamptz,                  -- endpoints refuse each token, and none takes one: jobs wait
  probe_at timestamptz not null default now(),   -- when one of them may be sent to see whether that is over
  probe_job bigint                         -- the one that was chosen last
) with (fillfactor = 50);
comment on table postrider_internal.refreshes is
  'how far each credential''s refresh is; one worker makes it, by a lease';

-- One endpoint that always says that the token has ended must not keep the credential's other jobs from being sent.
create table postrider_internal.refused_endpoints (
  credential text references postrider.credentials on delete cascade,
  endpoint text,                           -- as call_endpoint names it
  version bigint not null,                 -- of the token that was refused
  refused_at timestamptz not null,
  primary key (credential, endpoint)
);
comment on table postrider_internal.refused_endpoints is
  'endpoints that refused the token of a credential within the last hour and have not taken one since';

create unlogged table postrider_internal.credential_waits (
  job_id bigint primary key,
  credential text not null,
  seq bigint not null,                     -- its place among those that wait
  run_at timestamptz not null,             -- of its row in scheduled; it looks again then, whatever happens
  held_at timestamptz,                     -- since when it waits for an endpoint to take the token; null: for a refresh
  is_failed boolean not null default false -- the refresh has failed too often: the wait ends as a failed attempt
);
create index credential_waits_credential on postrider_internal.credential_waits (credential, seq);
comment on table postrider_internal.credential_waits is
  'jobs that wait in scheduled, outside the worker slots, for a token to be refreshed, or to be taken by an '
  'API that refuses it';
