-- SPDX-License-Identifier: Apache-2.0
-- after: credentials/accepting_endpoint.sql
-- planner: generic-plans
-- Must cost nothing for most calls. An acceptance of the present token is new in three cases: no endpoint has accepted
-- it, this endpoint refused it, or jobs are held. A second endpoint counts within 10 minutes of a refresh, because a
-- refusing endpoint may be compared with it.
create or replace function postrider_internal.is_new_acceptance(p_credential text, p_job bigint) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refresh postrider_internal.refreshes;
  v_refuses boolean;
  v_endpoint text;
begin
  select * into v_refresh from postrider_internal.refreshes r where r.credential = p_credential;
  if not found then
    return false;
  end if;
  v_refuses := exists (select from postrider_internal.refused_endpoints e where e.credential = p_credential);
  if v_refresh.held_since is null and not v_refuses and (
       cardinality(v_refresh.accepted_by) >= 2
       or v_refresh.accepted_by <> '{}'
         and coalesce(v_refresh.refreshed_at < clock_timestamp() - interval '10 min', true)) then
    return false;
  end if;
  v_endpoint := postrider_internal.accepting_endpoint(p_job);
  return v_endpoint is not null and (
    v_refresh.held_since is not null
    or cardinality(v_refresh.accepted_by) < 2 and v_endpoint <> all (v_refresh.accepted_by)
    or exists (select from postrider_internal.refused_endpoints e
               where e.credential = p_credential and e.endpoint = v_endpoint));
end
$$;
comment on function postrider_internal.is_new_acceptance(text, bigint) is
  'whether record_token_accepted has to record that the endpoint of this job accepted the present token';
