-- SPDX-License-Identifier: Apache-2.0
-- A person's word: the server is used at once, even if it was set aside, and until the next switch the order begins with
-- it. It is judged like any other from then on.
create or replace function postrider.switch_server(service text, "position" int, environment text default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform from postrider.servers s
   where s.service = switch_server.service and s.position = switch_server.position
     and (switch_server.environment is null or s.environment = switch_server.environment);
  if not found then
    raise exception using errcode = 'PR014',
      message = format('service %s has no server at position %s%s', quote_nullable(switch_server.service),
        coalesce(switch_server.position::text, 'null'), coalesce(' in environment ' || switch_server.environment, '')),
      hint = 'See select service, environment, position from postrider.servers.';
  end if;
  -- In the order of their locks.
  perform from postrider.servers s
   where s.service = switch_server.service order by s.id for no key update;
  update postrider.servers s
     set is_preferred = s.position = switch_server.position,
         state = case when s.position = switch_server.position then 'active' else s.state end
   where s.service = switch_server.service
     and (switch_server.environment is null or s.environment = switch_server.environment)
     and exists (
           select from postrider.servers o
            where o.service = s.service and o.environment = s.environment and o.position = switch_server.position)
     and (s.is_preferred or s.position = switch_server.position);
end
$$;
comment on function postrider.switch_server(text, int, text) is
  'public: makes all workers use this server of a service from their next call on, in one environment or in each that has such a position';
