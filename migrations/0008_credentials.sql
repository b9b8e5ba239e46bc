-- SPDX-License-Identifier: Apache-2.0
-- Credentials, their secrets, the state of each token refresh, and the jobs that wait for it.
--
-- A job names a credential, or its service does. prepare looks up its row before the call. The row that users see holds
-- no secret. Rows that change with each login and refresh are locked only when a token is refused or fetched, never by
-- successful calls.

create table postrider.credentials (
  name text primary key,
  -- kind, place and origins of the secret
  kind text,
  place jsonb,
  allowed_origins text[],
  -- Some APIs refuse an ended token with 400, 403 or 404.
  expired_statuses int4multirange not null default '{[401,402)}',
  -- how tokens are fetched
  token_url text,
  client_id text,
  -- Some token endpoints want client_id and client_secret in the form.
  client_auth text not null default 'basic',
  scope text,
  refresh jsonb,
  allow_private_network boolean default false,
  -- set by Postrider
  state text default 'logged_off',
  version bigint default 0,
  expires_at timestamptz,
  created_at timestamptz default now()
) with (fillfactor = 50);
comment on table postrider.credentials is
  'logins of jobs; secrets come from log_in or worker credential set and are never shown; see credential_status';
comment on column postrider.credentials.name is 'name in jobs.credential and services.credential; cannot be changed';
comment on column postrider.credentials.kind is
  'basic, bearer, api_key, oauth2_client_credentials, oauth2_refresh_token or custom';
comment on column postrider.credentials.place is
  'where a call carries the secret: {"header": name, "prefix": text}, {"query": name}, {"form": name}, {"json": key}, '
  'or a list (first fit); null: Authorization';
comment on column postrider.credentials.allowed_origins is
  'origins that may receive the secret, like https://api.example.com; null: the origins of the service, or of the URL '
  'of a job that names the credential';
comment on column postrider.credentials.expired_statuses is
  'statuses by which the API reports an expired token; the job is then sent again with a newer token';
comment on column postrider.credentials.token_url is 'oauth2 kinds: URL of the token endpoint';
comment on column postrider.credentials.client_id is
  'oauth2 kinds: client id for token_url; client_auth decides how it is sent';
comment on column postrider.credentials.client_auth is
  'how the client identifies itself at token_url: basic; post: client_id and client_secret in the form; none: '
  'client_id only';
comment on column postrider.credentials.scope is 'oauth2 kinds: the requested scope';
comment on column postrider.credentials.refresh is
  'kind custom: {"method": "POST", "url": …, "headers": …, "body_json": {"refreshToken": "{{refresh_token}}"}, '
  '"access_token": "$.…", "refresh_token": "$.…", "expires_in": "$.…"}';
comment on column postrider.credentials.allow_private_network is
  'true: token_url may be a private, loopback or link-local address';
comment on column postrider.credentials.state is
  'active, refreshing, cooldown (a refresh failed and will be retried) or logged_off';
comment on column postrider.credentials.version is 'number of the present secrets; grows with each login and refresh';
comment on column postrider.credentials.expires_at is 'when the token expires, if known; a worker refreshes it earlier';
comment on column postrider.credentials.created_at is 'when the row was inserted';

-- Without this table, a credential that was deleted and inserted again would count from 0 again. Late tokens, answers
-- and sealed secrets would then look like those belonging to the new credential.
create table postrider_internal.credential_versions (
  name text primary key,
  next bigint not null                     -- higher than all versions of credentials with this name
);
comment on table postrider_internal.credential_versions is
  'the next version of each credential name, so that none is used twice; rows are never deleted';

create table postrider_internal.secrets (
  credential text primary key references postrider.credentials on delete cascade,
  version bigint not null,
  sealed bytea,                            -- names and values, sealed by a worker's key; otherwise see plain
  plain jsonb,                             -- as given to log_in, until a worker with a key seals them
  has_token boolean not null,              -- whether there is a token or other secret to send
  spare_sealed bytea,                      -- the earlier secrets until the new ones are accepted, or
  spare_plain jsonb                        --   the secrets of a refresh that came too late
) with (fillfactor = 50);
comment on table postrider_internal.secrets is 'the sealed secrets of credentials, readable only by workers';

create table postrider_internal.refreshes (
  credential text primary key references postrider.credentials on delete cascade,
  -- logins
  logins int not null default 0,           -- logins and logouts; answers cached before belong to another user
  login bigint not null default 0,         -- unique number of the last login or logout, from fences
  login_version bigint not null default 0, -- tokens of an earlier version belong to another user
  -- the refresh in progress
  epoch bigint not null default 0,         -- from fences; 0: no refresh in progress
  worker int not null default 0,
  until timestamptz,                       -- after this time another worker may make the refresh
  began_at timestamptz,
  -- the next refresh
  due_at timestamptz not null default now(),
  is_early boolean not null default false, -- the token is still valid, so calls go on
  failures int not null default 0,         -- non-final failures in a row
  -- One unusual answer of a token endpoint must not log the credential off, so refusals are counted.
  refusals int not null default 0,         -- non-final refusals of the token endpoint in a row
  refused_since timestamptz,               -- time of the first of them
  -- past refreshes
  refreshes bigint not null default 0,
  refreshed_at timestamptz,                -- when a refresh brought the present token; null: from a login
  last_refresh_at timestamptz,
  last_error text,
  -- endpoints that refuse the token
  accepted_by text[] not null default '{}',   -- endpoints that accepted the present token, at most two
  forced_at timestamptz,                   -- when a refused job last started a refresh
  own_version bigint,                      -- the last version that a job's own answer rule had refreshed
  own_at timestamptz,                      -- when
  held_since timestamptz,                  -- since when endpoints refuse each token, so jobs wait
  probe_at timestamptz not null default now(),   -- when one job may test whether the token is accepted
  probe_job bigint                         -- the last job chosen for that test
) with (fillfactor = 50);
comment on table postrider_internal.refreshes is
  'the state of each credential''s refresh; one worker makes it, under a lease';

-- If one endpoint always reports an ended token, the other jobs of the credential must still be sent.
create table postrider_internal.refused_endpoints (
  credential text references postrider.credentials on delete cascade,
  endpoint text,                           -- name given by call_endpoint
  version bigint not null,                 -- of the token that was refused
  refused_at timestamptz not null,
  primary key (credential, endpoint)
);
comment on table postrider_internal.refused_endpoints is
  'endpoints that refused the token of a credential within the last hour and have accepted none since';

create unlogged table postrider_internal.credential_waits (
  job_id bigint primary key,
  credential text not null,
  seq bigint not null,                     -- its place among the waiting jobs
  run_at timestamptz not null,             -- run_at of its row in scheduled, when it is due in any case
  held_at timestamptz,                     -- since when an endpoint refuses the token; null: waits for a refresh
  is_failed boolean not null default false -- the refresh failed too often: the wait counts as a failed attempt
);
create index credential_waits_credential on postrider_internal.credential_waits (credential, seq);
comment on table postrider_internal.credential_waits is
  'jobs in scheduled that wait, without a worker slot, for a token refresh or for an API to accept the token';
