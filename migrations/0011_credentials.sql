-- SPDX-License-Identifier: Apache-2.0
-- What: credentials, their secrets, how far the refresh of a token is, and which jobs wait for it.
-- Why:  a job names a credential, or its service does; its row is looked up when the job is about to be called. The row that
--       users see holds no secret. What changes with each login and refresh is one row for each credential, locked only
--       when a token is refused or fetched, never by calls that go well.
-- Cost: a null column for results, outcomes and tries; no rewrite. Three functions get another signature.

create table postrider.credentials (
  name text primary key,
  kind text,
  place jsonb,
  token_url text,
  client_id text,
  scope text,
  refresh jsonb,
  allowed_origins text[],
  allow_private_network boolean default false,
  state text default 'logged_off',
  version bigint default 0,
  expires_at timestamptz,
  created_at timestamptz default now()
) with (fillfactor = 50);
comment on table postrider.credentials is
  'public: what jobs log in with; the secrets come by log_in or worker credential set and are never shown; see credential_status';
comment on column postrider.credentials.name is 'jobs.credential and services.credential refer to it; cannot be changed';
comment on column postrider.credentials.kind is
  'basic, bearer, api_key, oauth2_client_credentials, oauth2_refresh_token or custom';
comment on column postrider.credentials.place is
  'where calls carry it: {"header": "Authorization", "prefix": "Bearer "} (the default), {"query": "access_token"} or {"json": "accessToken"}';
comment on column postrider.credentials.token_url is 'the oauth2 kinds: where tokens come from';
comment on column postrider.credentials.client_id is 'the oauth2 kinds: sent with the client_secret, by Basic auth';
comment on column postrider.credentials.scope is 'the oauth2 kinds: what is asked for';
comment on column postrider.credentials.refresh is
  'custom: {"method": "POST", "url": …, "headers": …, "body_json": {"refreshToken": "{{refresh_token}}"}, "access_token": "$.…", "refresh_token": "$.…", "expires_in": "$.…"}';
comment on column postrider.credentials.allowed_origins is
  'origins like https://api.example.com that calls may carry it to; null: those of the job''s service, or where a job that names it leads';
comment on column postrider.credentials.allow_private_network is 'the token''s own URL may be a private, loopback or link-local address';
comment on column postrider.credentials.state is 'active, refreshing, cooldown (a refresh failed and is tried again) or logged_off';
comment on column postrider.credentials.version is 'grows with each login and refresh';
comment on column postrider.credentials.expires_at is 'when the token ends, if that is known; it is refreshed before';

create table postrider.secrets (
  credential text primary key references postrider.credentials on delete cascade,
  version bigint not null,
  sealed bytea,                            -- names and values, by a worker's key; else plain
  plain jsonb,                             -- as log_in was given them, until a worker with a key sees them
  has_token boolean not null,              -- whether there is something to send yet
  spare_sealed bytea,                      -- the ones before, until these have been accepted; or what a refresher
  spare_plain jsonb                        --   brought too late
) with (fillfactor = 50);
comment on table postrider.secrets is 'private: the secrets of credentials, sealed; nobody but the worker reads them';

create table postrider.refreshes (
  credential text primary key references postrider.credentials on delete cascade,
  logins int not null default 0,           -- log-ins and log-outs; answers cached before are another user's
  epoch bigint not null default 0,         -- of the refresh under way, from fences; 0: none is
  worker int not null default 0,
  until timestamptz,                       -- the refresh is another worker's to make after this
  began_at timestamptz,
  due_at timestamptz not null default now(),
  is_early boolean not null default false, -- the token is still good: calls go on meanwhile
  failures int not null default 0,         -- in a row, and none of them for good
  refreshed_at timestamptz,                -- when the present token came by a refresh; null: by a login
  is_accepted boolean not null default false,   -- an API has taken the present token
  refused_by bigint[] not null default '{}',    -- jobs that were refused with it although it was fresh, two at most
  recent timestamptz[] not null default '{}',   -- refreshes of the last 30 s that a refusal led to
  refreshes bigint not null default 0,
  last_refresh_at timestamptz,
  last_error text
) with (fillfactor = 50);
comment on table postrider.refreshes is 'private: how far each credential''s refresh is; one worker makes it, by a lease';

create unlogged table postrider.credential_waits (
  job_id bigint primary key,
  credential text not null,
  seq bigint not null,                     -- its place among those that wait
  run_at timestamptz not null,             -- of its row in scheduled; it looks again then, whatever happens
  is_failed boolean not null default false -- the refresh has failed too often: the wait ends as a failed attempt
);
create index credential_waits_credential on postrider.credential_waits (credential, seq);
comment on table postrider.credential_waits is
  'private: jobs that wait in scheduled, outside the worker slots, for a token to be refreshed';

alter table postrider.results add column credential_version bigint;
alter table postrider.outcomes add column credential_version bigint;
alter table postrider.tries add column credential_version bigint;
comment on column postrider.results.credential_version is 'of the token that the call carried';
comment on column postrider.outcomes.credential_version is 'as in results';
comment on column postrider.tries.credential_version is 'as in results';

-- These take or give more than before; whatever their parameters were, the function files make them anew.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid::regprocedure from pg_proc p
     where p.pronamespace = 'postrider'::regnamespace and p.proname in ('prepare', 'finish', 'judge')
  loop
    execute format('drop function %s', v_function);
  end loop;
end
$$;
