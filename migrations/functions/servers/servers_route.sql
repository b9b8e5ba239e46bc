-- SPDX-License-Identifier: Apache-2.0
-- A session that changes a row here already holds the row of servers, so no session waits for it.
create or replace function postrider_internal.servers_route() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'TRUNCATE' then
    delete from postrider_internal.server_routes;
    update postrider.services s set has_servers = false where s.has_servers;
    return null;
  elsif tg_op = 'DELETE' then
    delete from postrider_internal.server_routes r where r.id = old.id;
  elsif tg_op = 'INSERT' then
    insert into postrider_internal.server_routes (
      id, service, environment, position, base_url, state, open_until, is_preferred, since_fence)
    values (new.id, new.service, new.environment, new.position, new.base_url, new.state, new.open_until,
      new.is_preferred, new.since_fence);
  elsif row(new.id, new.service, new.environment, new.position, new.base_url, new.state, new.open_until,
            new.is_preferred,
            new.since_fence, new.probe_fence, new.probe_seq)
     is distinct from
        row(old.id, old.service, old.environment, old.position, old.base_url, old.state, old.open_until,
            old.is_preferred,
            old.since_fence, old.probe_fence, old.probe_seq) then
    update postrider_internal.server_routes r
       set id = new.id, service = new.service, environment = new.environment, position = new.position,
         base_url = new.base_url,
           state = new.state, open_until = new.open_until, is_preferred = new.is_preferred,
           since_fence = new.since_fence, probe_track = new.probe_track, probe_seq = new.probe_seq,
           probe_fence = new.probe_fence
     where r.id = old.id;
  end if;
  if tg_op <> 'DELETE' and (tg_op = 'INSERT' or new.service <> old.service) then
    update postrider.services s set has_servers = true where s.name = new.service and not s.has_servers;
  end if;
  if tg_op <> 'INSERT' and (tg_op = 'DELETE' or new.service <> old.service) then
    update postrider.services s set has_servers = false
     where s.name = old.service and s.has_servers
       and not exists (select from postrider_internal.server_routes r where r.service = old.service);
  end if;
  return null;
end
$$;
comment on function postrider_internal.servers_route() is
  'trigger of servers: copies changes other than counters to server_routes, and keeps services.has_servers';

create or replace trigger servers_route
  after insert or update or delete on postrider.servers
  for each row execute function postrider_internal.servers_route();

create or replace trigger servers_truncate
  after truncate on postrider.servers
  for each statement execute function postrider_internal.servers_route();
