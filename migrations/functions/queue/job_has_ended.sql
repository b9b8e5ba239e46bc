-- SPDX-License-Identifier: Apache-2.0
-- Agrees with job_status: a cancelled job has ended although its callbacks have not run yet. Reads outcomes second:
-- conclude moves an end from there to results in one transaction, and this statement has one snapshot.
create or replace function postrider_internal.job_has_ended(p_id bigint) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from postrider_internal.results r where r.job_id = p_id)
      or exists (select from postrider_internal.outcomes o where o.job_id = p_id and o.state in ('c', 'e', 'k'))
      or not exists (select from postrider.jobs j where j.id = p_id);
end
$$;
comment on function postrider_internal.job_has_ended(bigint) is 'whether a job is in a final state or does not exist';
