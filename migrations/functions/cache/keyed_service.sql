-- SPDX-License-Identifier: Apache-2.0
-- The base URL is part of a cache key. It is the base of the first server, whichever was called, so a failover keeps
-- the entries. Environments do not share entries. Without a worker (cache_put) the environment is release.
create or replace function postrider_internal.keyed_service(p_service postrider.services,
                                                            p_worker int) returns postrider.services
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_service.has_servers then
    p_service.base_url := coalesce((
      select t.base_url from postrider_internal.server_routes t
       where t.service = p_service.name
         and t.environment = coalesce((select w.environment from postrider_internal.workers w where w.id = p_worker),
                                      'release')
       order by t.position limit 1), p_service.base_url);
  end if;
  return p_service;
end
$$;
comment on function postrider_internal.keyed_service(postrider.services, int) is
  'a service with the base URL that its cache keys use';
