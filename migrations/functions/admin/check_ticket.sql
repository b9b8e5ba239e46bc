-- SPDX-License-Identifier: Apache-2.0
-- For functions that run as the owner and are called by one that runs as its caller. That one reads the ticket of the
-- job from the view tickets. Without it a job of another client counts as missing.
create or replace function postrider_internal.check_ticket(p_id bigint, p_ticket bytea) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_ticket is distinct from (select postrider_internal.ticket(k.secret, p_id)
                                from postrider_internal.ticket_key k) then
    raise exception using errcode = 'PR003', message = postrider_internal.missing_job_message(p_id),
      hint = 'Look it up in postrider.job_status.';
  end if;
end
$$;
comment on function postrider_internal.check_ticket(bigint, bytea) is
  'raises PR003 if the ticket does not prove that the caller may see the job';
