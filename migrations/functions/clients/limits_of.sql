-- SPDX-License-Identifier: Apache-2.0
-- after: clients/is_exempt_client.sql
create or replace function postrider_internal.limits_of(p_role text) returns postrider.client_limits
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limits postrider.client_limits;
begin
  select l.* into v_limits from postrider.client_limits l where l.role = p_role;
  if not found then
    select l.* into v_limits from postrider.client_limits l where l.role = '*';
  end if;
  return case when v_limits.role is not null and not postrider_internal.is_exempt_client(p_role) then v_limits end;
end
$$;
comment on function postrider_internal.limits_of(text) is
  'the row of client_limits that applies to a role; nulls: no limits';
