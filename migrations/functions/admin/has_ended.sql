-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans
-- For a poll of wait, which must not take a deleted job for an ended one.
create or replace function postrider_internal.has_ended(p_id bigint, p_ticket bytea) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.check_ticket(p_id, p_ticket);
  if not exists (select from postrider.jobs j where j.id = p_id) then
    raise exception using errcode = 'PR003', message = postrider_internal.missing_job_message(p_id),
      hint = 'Look it up in postrider.job_status.';
  end if;
  return postrider_internal.job_has_ended(p_id);
end
$$;
comment on function postrider_internal.has_ended(bigint, bytea) is
  'whether a job has ended, for a caller with its ticket; raises an error once the job is deleted';
