-- SPDX-License-Identifier: Apache-2.0
-- cancel runs as its caller and calls this function, which runs as the owner. The ticket proves that the caller sees
-- the job: cancel reads it from the view tickets. Without it a job of another client counts as missing.
create or replace function postrider_internal.cancel_job(p_id bigint, p_ticket bytea) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_ticket is distinct from (select postrider_internal.ticket(k.secret, p_id)
                                from postrider_internal.ticket_key k) then
    raise exception using errcode = 'PR003', message = postrider_internal.missing_job_message(p_id),
      hint = 'Look it up in postrider.job_status.';
  end if;
  return postrider_internal.cancel_any(p_id);
end
$$;
comment on function postrider_internal.cancel_job(bigint, bytea) is 'cancel for a caller with the ticket of the job';
