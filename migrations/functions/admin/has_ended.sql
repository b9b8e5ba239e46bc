-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans
-- One descent into an index of results, and one of outcomes, for a poll of wait. These are the ends that job_status
-- shows. Reads outcomes second: conclude moves an end from there to results in one transaction, and each query of this
-- statement has the same snapshot.
create or replace function postrider_internal.has_ended(p_id bigint, p_ticket bytea) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_ticket is distinct from (select postrider_internal.ticket(k.secret, p_id)
                                from postrider_internal.ticket_key k)
    or not exists (select from postrider.jobs j where j.id = p_id) then
    raise exception using errcode = 'PR003', message = postrider_internal.missing_job_message(p_id),
      hint = 'Look it up in postrider.job_status.';
  end if;
  return exists (select from postrider_internal.results r where r.job_id = p_id)
    or exists (select from postrider_internal.outcomes o where o.job_id = p_id and o.state in ('c', 'e', 'k'));
end
$$;
comment on function postrider_internal.has_ended(bigint, bytea) is
  'whether a job has ended, for a caller with its ticket; raises an error once the job is deleted';
