-- SPDX-License-Identifier: Apache-2.0
-- Several servers for one service, and how they are doing.
--
-- The counters of servers change every second while there are calls. Under a transaction held open for hours that
-- leaves thousands of dead versions. So prepare reads server_routes: the same rows without counters, written only
-- when a server is changed, set aside or brought back. A finish updates none of this: it appends to server_deltas.

create table postrider.servers (
  id int generated always as identity unique,
  -- set by users
  service text not null references postrider.services on delete cascade on update cascade,
  environment text not null default 'release',
  position int not null,
  base_url text not null,
  -- set by the leader
  is_preferred boolean not null default false,
  state text not null default 'active',
  open_until timestamptz,
  calls bigint not null default 0,
  errors bigint not null default 0,
  -- The younger part of calls and errors, and when it began.
  recent_calls bigint not null default 0,
  recent_errors bigint not null default 0,
  window_began timestamptz not null default now(),
  since_fence bigint not null default 0,   -- calls claimed before the server became active say nothing about it
  probe_track int,                         -- the row in ready of the one call that probes
  probe_seq bigint,
  probe_fence bigint,
  primary key (service, environment, position)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0);
comment on table postrider.servers is
  'the servers of a service, in the order of their position; state, open_until, calls and errors are '
  'Postrider''s';
comment on column postrider.servers.service is
  'the service; relative URLs of its jobs are joined to the base_url of one of these';
comment on column postrider.servers.environment is 'for workers that run with this --environment';
comment on column postrider.servers.position is 'the lowest is used first, unless switch_server has named another';
comment on column postrider.servers.base_url is 'what services.base_url would be';
comment on column postrider.servers.is_preferred is 'switch_server has named it: the order begins here and goes round';
comment on column postrider.servers.state is
  'active; aside: too many calls failed, it is not used before open_until; probing: one call is finding out whether '
  'it is well again';
comment on column postrider.servers.open_until is 'when a server that was set aside is probed';
comment on column postrider.servers.calls is
  'calls that count for the switch rule now; those that set the server aside, while it is';
comment on column postrider.servers.errors is 'how many of calls failed at network level or with 502, 503 or 504';

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
  'servers without their counters, kept by a trigger; what prepare reads';

create table postrider_internal.server_deltas (
  id bigint generated always as identity primary key,
  server int not null,
  calls int not null,
  errors int not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider_internal.server_deltas is 'calls that ended at servers, until fold_servers adds them up';
