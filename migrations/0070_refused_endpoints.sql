-- SPDX-License-Identifier: Apache-2.0
-- What: which endpoints refuse a token and which take it is kept for each credential, in place of the jobs that were refused.
-- Why:  one endpoint that always says that the token has ended kept every job of its credential from being sent.
-- Cost: refreshes is small; credential_waits is unlogged and gets a nullable column.
-- breaking: no

-- An upgrade makes it again with the other views.
drop view if exists postrider.credential_status;
alter table postrider.refreshes
  drop column is_accepted, drop column refused_by, drop column recent,
  add column accepted_by text[] not null default '{}',   -- endpoints that have taken the present token; two at most
  add column forced_at timestamptz,                      -- when a refused job last set off a refresh
  add column held_since timestamptz,                     -- endpoints refuse each token, and none takes one: jobs wait
  add column probe_at timestamptz not null default now(),   -- when one of them may be sent to see whether that is over
  add column probe_job bigint;                           -- the one that was chosen last

create table postrider.refused_endpoints (
  credential text references postrider.credentials on delete cascade,
  endpoint text,                                         -- as call_endpoint names it
  version bigint not null,                               -- of the token that was refused
  refused_at timestamptz not null,
  primary key (credential, endpoint)
);
comment on table postrider.refused_endpoints is
  'private: endpoints that refused the token of a credential within the last hour and have not taken one since';

alter table postrider.credential_waits add column held_at timestamptz;   -- since when it waits for an endpoint to take the token; null: for a refresh
comment on table postrider.credential_waits is
  'private: jobs that wait in scheduled, outside the worker slots, for a token to be refreshed, or to be taken by an API that refuses it';
