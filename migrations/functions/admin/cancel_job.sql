-- SPDX-License-Identifier: Apache-2.0
-- cancel runs as its caller and calls this function, which runs as the owner.
create or replace function postrider_internal.cancel_job(p_id bigint, p_ticket bytea) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.check_ticket(p_id, p_ticket);
  return postrider_internal.cancel_any(p_id);
end
$$;
comment on function postrider_internal.cancel_job(bigint, bytea) is 'cancel for a caller with the ticket of the job';
