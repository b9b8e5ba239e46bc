-- SPDX-License-Identifier: Apache-2.0
-- cancel for admins: they see all jobs. The name is an argument and not a setting, because every client may set any
-- setting. The right to call this function decides whose name counts.
create or replace function postrider_internal.cancel_as(p_id bigint, p_actor text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from postrider.jobs j where j.id = p_id) then
    raise exception using errcode = 'PR003', message = postrider_internal.missing_job_message(p_id),
      hint = 'Look it up in postrider.job_status.';
  end if;
  return postrider_internal.cancel_any(p_id, p_actor => p_actor);
end
$$;
comment on function postrider_internal.cancel_as(bigint, text) is
  'cancel for an admin, whose name stands in the error of the job; false if it had ended';
