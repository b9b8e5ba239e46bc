-- SPDX-License-Identifier: Apache-2.0
-- planner: generic-plans
-- An acceptance of the present token is new in three cases: no endpoint has accepted it, this endpoint refused it, or
-- jobs are held. A second endpoint counts within 10 minutes of a refresh, because a refusing endpoint may be compared
-- with it.
create or replace function postrider_internal.awaits_acceptance(p_credential text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refresh postrider_internal.refreshes;
begin
  select * into v_refresh from postrider_internal.refreshes r where r.credential = p_credential;
  return found and (
    v_refresh.held_since is not null
    or v_refresh.accepted_by = '{}'
    or cardinality(v_refresh.accepted_by) < 2
       and coalesce(v_refresh.refreshed_at >= clock_timestamp() - interval '10 min', false)
    or exists (select from postrider_internal.refused_endpoints e where e.credential = p_credential));
end
$$;
comment on function postrider_internal.awaits_acceptance(text) is
  'whether an acceptance of the present token of a credential may have to be recorded; false for most';
