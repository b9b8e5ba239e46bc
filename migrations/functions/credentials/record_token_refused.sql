-- SPDX-License-Identifier: Apache-2.0
-- If two endpoints refuse a token from a refresh and none accepts it, the login is in doubt, and jobs are held. A token
-- from a login may be old, so it is refreshed first.
--
-- At most a hundred endpoints are kept. The caller has locked the row of credentials.
create or replace function postrider_internal.record_token_refused(p_refresh postrider_internal.refreshes,
                                                                   p_version bigint, p_endpoint text)
returns postrider_internal.refreshes
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from postrider_internal.refused_endpoints e
   where e.credential = p_refresh.credential and not e.refused_at between clock_timestamp() - interval '1 h'
     and clock_timestamp();
  insert into postrider_internal.refused_endpoints as e (credential, endpoint, version, refused_at)
  select p_refresh.credential, p_endpoint, p_version, clock_timestamp()
   where (select count(*) from postrider_internal.refused_endpoints o
          where o.credential = p_refresh.credential and o.endpoint <> p_endpoint) < 100
      on conflict (credential, endpoint) do update set version = excluded.version, refused_at = excluded.refused_at;
  if p_refresh.held_since is null and p_refresh.accepted_by = '{}' and p_refresh.refreshed_at is not null
     and (select count(*) from postrider_internal.refused_endpoints e
          where e.credential = p_refresh.credential and e.version = p_version) >= 2 then
    update postrider_internal.refreshes r set held_since = clock_timestamp(), probe_at = clock_timestamp(),
      probe_job = null
     where r.credential = p_refresh.credential
    returning * into p_refresh;
  end if;
  return p_refresh;
end
$$;
comment on function postrider_internal.record_token_refused(postrider_internal.refreshes, bigint, text) is
  'records that an endpoint refused the present token, and holds jobs if all refuse; returns its row of refreshes';
