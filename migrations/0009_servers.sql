-- SPDX-License-Identifier: Apache-2.0
-- What: several servers for one service, how they are doing, and which one each attempt called.
-- Why:  servers is what people write and read, and its counters change every second while there are calls. Under a
--       transaction held open for hours that leaves thousands of dead versions, so prepare reads server_routes instead:
--       the same rows without counters, written only when a server is changed, set aside or brought back.
--       A finish updates none of this: it appends to server_tallies.
-- Cost: alter table adds columns with constant defaults, no rewrite.

alter table postrider.services
  add column min_calls int not null default 40,
  add column error_rate numeric not null default 0.10,
  add column cool_down interval not null default '30 s';
comment on column postrider.services.min_calls is 'a server is judged by at least so many calls';
comment on column postrider.services.error_rate is
  'a server is set aside when this part of its calls failed at network level or with 502, 503 or 504; more than 0, at most 1';
comment on column postrider.services.cool_down is 'how long a server is set aside before one call probes it';

create table postrider.servers (
  service text not null references postrider.services on delete cascade on update cascade,
  position int not null,
  environment text not null default 'release',
  base_url text not null,
  state text not null default 'active',
  open_until timestamptz,
  calls bigint not null default 0,
  errors bigint not null default 0,
  is_preferred boolean not null default false,
  id int generated always as identity unique,
  -- The younger part of calls and errors, and when it began.
  recent_calls bigint not null default 0,
  recent_errors bigint not null default 0,
  window_began timestamptz not null default now(),
  since_fence bigint not null default 0,   -- calls claimed before the server became active say nothing about it
  probe_track int,                         -- the row in ready of the one call that probes
  probe_seq bigint,
  probe_fence bigint,
  primary key (service, environment, position)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.servers is
  'public: the servers of a service, in the order of their position; state, open_until, calls and errors are Postrider''s';
comment on column postrider.servers.service is 'the service; relative URLs of its jobs are joined to the base_url of one of these';
comment on column postrider.servers.position is 'the lowest is used first, unless switch_server has named another';
comment on column postrider.servers.environment is 'for workers that run with this --environment';
comment on column postrider.servers.base_url is 'what services.base_url would be';
comment on column postrider.servers.state is
  'active; aside: too many calls failed, it is not used before open_until; probing: one call is finding out whether it is well again';
comment on column postrider.servers.open_until is 'when a server that was set aside is probed';
comment on column postrider.servers.calls is 'calls that count for the switch rule now; those that set the server aside, while it is';
comment on column postrider.servers.errors is 'how many of calls failed at network level or with 502, 503 or 504';
comment on column postrider.servers.is_preferred is 'switch_server has named it: the order begins here and goes round';

create table postrider.server_routes (
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
comment on table postrider.server_routes is
  'private: servers without their counters, kept by a trigger; what prepare reads';

create table postrider.server_tallies (
  id bigint generated always as identity primary key,
  server int not null,
  calls int not null,
  errors int not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table postrider.server_tallies is
  'private: calls that ended at servers, until fold_servers adds them up';

alter table postrider.workers add column environment text not null default 'release';
comment on column postrider.workers.environment is 'whose rows of servers the worker uses';

alter table postrider.ready add column tried int[];
comment on column postrider.ready.tried is 'ids of the servers that failed this attempt; it goes on at another one';

alter table postrider.results add column server text;
alter table postrider.outcomes add column server text;
alter table postrider.tries add column server text;
comment on column postrider.results.server is 'base_url of the server that was called; null: the service had none';
comment on column postrider.outcomes.server is 'as in results';
comment on column postrider.tries.server is 'as in results';

-- These take or give more than before; whatever their parameters were, the function files make them anew.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid::regprocedure from pg_proc p
     where p.pronamespace = 'postrider'::regnamespace
       and p.proname in ('enlist', 'prepare', 'finish', 'judge', 'end_cache_flights')
  loop
    execute format('drop function %s', v_function);
  end loop;
end
$$;
