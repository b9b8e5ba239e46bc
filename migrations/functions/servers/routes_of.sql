-- SPDX-License-Identifier: Apache-2.0
-- Runs as the owner, because readers of service_status have no right to the table. In PL/pgSQL, which keeps its plan.
-- An SQL function would be planned anew for each batch.
create or replace function postrider_internal.routes_of(p_service text,
                                                        p_environment text) returns postrider_internal.server_routes[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first int;
begin
  select coalesce(min(t.position) filter (where t.is_preferred), min(t.position)) into v_first
    from postrider_internal.server_routes t where t.service = p_service and t.environment = p_environment;
  return (
    select array_agg(t order by t.position < v_first, t.position)
      from postrider_internal.server_routes t where t.service = p_service and t.environment = p_environment);
end
$$;
comment on function postrider_internal.routes_of(text, text) is
  'the servers of a service in order of use, from the preferred one or the lowest position on; null: no server';
