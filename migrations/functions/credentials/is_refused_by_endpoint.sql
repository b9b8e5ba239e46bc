-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.is_refused_by_endpoint(p_refresh postrider_internal.refreshes,
                                                                     p_endpoint text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p_refresh.refreshed_at between clock_timestamp() - interval '10 min' and clock_timestamp()
     and p_refresh.accepted_by <> '{}' and p_endpoint <> all (p_refresh.accepted_by)
     and exists (
         select from postrider_internal.refused_endpoints e
          where e.credential = p_refresh.credential and e.endpoint = p_endpoint
            and e.refused_at < p_refresh.refreshed_at)
$$;
comment on function postrider_internal.is_refused_by_endpoint(postrider_internal.refreshes, text) is
  'whether the endpoint is at fault, not the token: it refused the token before too, and another accepts the new one';
