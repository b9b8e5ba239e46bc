-- SPDX-License-Identifier: Apache-2.0
-- p_routes is in the order of use. The function returns the first active server. If none is active, it returns the one
-- that reopens first, so a service always has a server. Servers that the attempt has already called are left out while
-- others exist.
create or replace function postrider_internal.choose_server(
  p_routes postrider_internal.server_routes[], p_tried int[], out route postrider_internal.server_routes,
  out goes_on boolean)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_route postrider_internal.server_routes;
begin
  goes_on := false;
  -- Null for a service without servers, in whatever order a plan evaluates this.
  foreach v_route in array coalesce(p_routes, '{}') loop
    continue when v_route.id = any (p_tried);
    if v_route.state = 'active' then
      if route.state = 'active' then
        goes_on := true;
        return;
      end if;
      route := v_route;
    elsif route.id is null or route.state <> 'active' and v_route.open_until < route.open_until then
      route := v_route;
    end if;
  end loop;
  if route.id is null and p_tried is not null then
    route := (postrider_internal.choose_server(p_routes, null)).route;
  end if;
end
$$;
comment on function postrider_internal.choose_server(postrider_internal.server_routes[], int[]) is
  'the server for a call, and whether the same attempt can go on at another active server if it fails';
