-- SPDX-License-Identifier: Apache-2.0
-- The servers of a service, and their state.
--
-- The counters of servers change each second while there are calls. While a transaction stays open for hours, that
-- leaves thousands of dead versions. So prepare reads server_routes, which has the same rows without counters. It is
-- written only when a server is changed, set aside or reactivated. A finish appends to server_deltas. It updates a
-- server only to set it aside or to end its probe.

create table postrider.servers (
  id int generated always as identity unique,
  -- set by users
  service text not null references postrider.services on delete cascade on update cascade,
  environment text not null default 'release',
  position int not null,
  base_url text not null,
  -- set by Postrider
  is_preferred boolean not null default false,
  state text not null default 'active',
  open_until timestamptz,
  calls bigint not null default 0,
  errors bigint not null default 0,
  -- The newer part of calls and errors, and when it began.
  recent_calls bigint not null default 0,
  recent_errors bigint not null default 0,
  window_began timestamptz not null default now(),
  since_fence bigint not null default 0,   -- calls claimed before the server became active do not count
  probe_track int,                         -- the row in ready of the one call that probes
  probe_seq bigint,
  probe_fence bigint,
  primary key (service, environment, position)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
comment on table postrider.servers is
  'servers of a service in order of position; Postrider sets the columns from is_preferred on';
comment on column postrider.servers.id is 'number of the server, given by the database';
comment on column postrider.servers.service is
  'the service; relative URLs of its jobs are joined to the base_url of one of its servers';
comment on column postrider.servers.environment is 'workers with this --environment use the server';
comment on column postrider.servers.position is
  'the active server with the lowest position is used, unless switch_server has chosen another';
comment on column postrider.servers.base_url is 'replaces services.base_url for calls to this server';
comment on column postrider.servers.is_preferred is
  'true: switch_server has chosen this server; the order begins here and wraps around';
comment on column postrider.servers.state is
  'active; aside: failed too often, unused until open_until; probing: one call tests it';
comment on column postrider.servers.open_until is 'when one call may probe the server that was set aside';
comment on column postrider.servers.calls is
  'calls that count for error_rate now; for a server set aside, the calls that led to it';
comment on column postrider.servers.errors is 'how many of these calls failed on the network or with 502, 503 or 504';
comment on column postrider.servers.recent_calls is 'calls since window_began; calls includes them';
comment on column postrider.servers.recent_errors is 'errors since window_began; errors includes them';
comment on column postrider.servers.window_began is 'start of the present window for error_rate';
comment on column postrider.servers.since_fence is
  'calls claimed up to this fence do not count, because the server was not yet active';
comment on column postrider.servers.probe_track is 'track of the job whose call probes the server; null: no probe yet';
comment on column postrider.servers.probe_seq is 'place of that job in its track; null: no probe yet';
comment on column postrider.servers.probe_fence is 'fence of the probing call; null: no probe yet';

create table postrider_internal.server_routes (
  id int primary key,
  service text not null,
  environment text not null,
  position int not null,
  base_url text not null,
  state text not null,
  open_until timestamptz,
  is_preferred boolean not null,
  since_fence bigint not null,
  probe_track int,
  probe_seq bigint,
  probe_fence bigint,
  unique (service, environment, position)
) with (fillfactor = 50);
comment on table postrider_internal.server_routes is
  'servers without their counters, maintained by a trigger and read by prepare';

create table postrider_internal.server_deltas (
  id bigint generated always as identity primary key,
  server int not null,
  calls int not null,
  errors int not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.server_deltas is 'ended calls to servers, until fold_servers adds them';
