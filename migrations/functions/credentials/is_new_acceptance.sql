-- SPDX-License-Identifier: Apache-2.0
-- after: credentials/accepting_endpoint.sql
-- planner: generic-plans
-- p_credential: one that awaits_acceptance.
create or replace function postrider_internal.is_new_acceptance(p_credential text, p_job bigint) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint constant text := postrider_internal.accepting_endpoint(p_job);
begin
  return v_endpoint is not null and (
    exists (
      select from postrider_internal.refreshes r
       where r.credential = p_credential
         and (r.held_since is not null or cardinality(r.accepted_by) < 2 and v_endpoint <> all (r.accepted_by)))
    or exists (select from postrider_internal.refused_endpoints e
               where e.credential = p_credential and e.endpoint = v_endpoint));
end
$$;
comment on function postrider_internal.is_new_acceptance(text, bigint) is
  'whether record_token_accepted has to record that the endpoint of this job accepted the present token';
