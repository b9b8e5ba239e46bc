-- SPDX-License-Identifier: Apache-2.0
-- Reads only services and servers, of which there are few, and never jobs.
create or replace view postrider.service_status as
select s.name as service, e.environment,
       postrider_internal.url_without_login(coalesce((c.route).base_url, s.base_url)) as base_url,
       (c.route).position as current_position,
       case when c.route is null then 'no servers' when (c.route).state = 'active' then 'active'
         else 'all servers aside' end as state,
       coalesce(v.servers, 0) as servers, coalesce(v.active, 0) as servers_active,
       coalesce(v.calls, 0)::bigint as calls, coalesce(v.errors, 0)::bigint as errors,
       v.open_until,
       v.details as server_details,
       s.min_calls, s.error_rate, s.cool_down, s.stub is not null as has_stub
  from postrider.services s
  left join (select distinct t.service, t.environment from postrider_internal.server_routes t) e on e.service = s.name
  left join lateral (
       select count(*) as servers, count(*) filter (where r.state = 'active') as active,
              sum(r.calls) as calls, sum(r.errors) as errors, min(r.open_until) as open_until,
              jsonb_agg(jsonb_build_object('position', r.position, 'base_url', r.base_url, 'state', r.state,
                'open_until', r.open_until, 'calls', r.calls, 'errors', r.errors, 'is_preferred', r.is_preferred)
                order by r.position) as details
         from postrider.servers r where r.service = e.service and r.environment = e.environment) v on e.service
           is not null
  left join lateral postrider_internal.choose_server(postrider_internal.routes_of(e.service, e.environment), null) c
    on e.service is not null;
comment on view postrider.service_status is
  'one row for each service and environment: the present server, the state of all servers, and the next probe';
comment on column postrider.service_status.service is 'name of the service';
comment on column postrider.service_status.environment is
  'environment of these servers; null for a service without servers';
comment on column postrider.service_status.base_url is 'base URL of the next call, without user and password';
comment on column postrider.service_status.current_position is
  'position of that server; null for a service without servers';
comment on column postrider.service_status.state is 'active, all servers aside, or no servers';
comment on column postrider.service_status.servers is 'number of servers in this environment';
comment on column postrider.service_status.servers_active is 'number of these servers that are active';
comment on column postrider.service_status.calls is 'calls to all these servers that count for error_rate now';
comment on column postrider.service_status.errors is
  'how many of these calls failed on the network or with 502, 503 or 504';
comment on column postrider.service_status.open_until is 'when one call may probe the first server that was set aside';
comment on column postrider.service_status.server_details is
  'array of objects: position, base_url, state, open_until, calls, errors, is_preferred';
comment on column postrider.service_status.min_calls is 'error_rate applies to a server after this many calls';
comment on column postrider.service_status.error_rate is 'share of failed calls that sets a server aside';
comment on column postrider.service_status.has_stub is
  'true: services.stub answers all calls of the service, and no server is called';
comment on column postrider.service_status.cool_down is 'how long a server is set aside before one call probes it';
