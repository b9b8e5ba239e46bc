-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.explain_job(p_id bigint, p_ticket bytea) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_ticket is distinct from (select postrider_internal.ticket(k.secret, p_id)
                                from postrider_internal.ticket_key k) then
    return overlay(postrider_internal.missing_job_message(p_id) placing 'J' from 1) || '.';
  end if;
  return postrider_internal.explain_any(p_id);
end
$$;
comment on function postrider_internal.explain_job(bigint, bytea) is 'explain for a caller with the ticket of the job';
