-- SPDX-License-Identifier: Apache-2.0
-- The user decides: the server is used at once, even if it was set aside. Until the next switch it is the first in the
-- order. From then on its calls can set it aside like any other server.
--
-- Without a position each environment moves on from the server that its calls use at present: the first active one in
-- its order.
create or replace function postrider.switch_server(service text, "position" int default null,
                                                   environment text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform from postrider.servers s
   where s.service = switch_server.service and (switch_server.position is null or s.position = switch_server.position)
     and (switch_server.environment is null or s.environment = switch_server.environment);
  if not found then
    raise exception using errcode = 'PR014',
      message = format('service %s has no server%s%s', quote_nullable(switch_server.service),
        ' at position ' || switch_server.position, ' in environment ' || switch_server.environment),
      hint = 'See select service, environment, position from postrider.servers.';
  end if;
  -- Locks in the order of ids.
  perform from postrider.servers s
   where s.service = switch_server.service order by s.id for no key update;
  with wanted as (
    select e.environment, case when switch_server.position is null
      then (e.routes[coalesce(u.used, 1) % cardinality(e.routes) + 1]).position
                               else switch_server.position end as position
      from (select x.environment, postrider_internal.routes_of(switch_server.service, x.environment) as routes
              from (select distinct s.environment from postrider.servers s
                     where s.service = switch_server.service
                       and (switch_server.environment is null or s.environment = switch_server.environment)
                       and (switch_server.position is null or s.position = switch_server.position)) x) e
     cross join lateral (
           select min(p.place) as used from generate_subscripts(e.routes, 1) as p (place)
            where (e.routes[p.place]).state = 'active') u)
  update postrider.servers s
     set is_preferred = s.position = w.position,
         state = case when s.position = w.position then 'active' else s.state end
    from wanted w
   where s.service = switch_server.service and s.environment = w.environment
     and (s.is_preferred or s.position = w.position);
end
$$;
comment on function postrider.switch_server(text, int, text) is
  'makes all workers use this server of a service (position null: the next one) in one environment (null: all)';
