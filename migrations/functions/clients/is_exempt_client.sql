-- SPDX-License-Identifier: Apache-2.0
-- Superusers count as members of every role, and may create in every schema. The schema's owner counts too, because
-- without the roles (migrate --no-roles) it does their work.
create or replace function postrider_internal.is_exempt_client(p_role text) returns boolean
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role constant regrole := to_regrole(quote_ident(p_role));
begin
  return coalesce(
    has_schema_privilege(v_role, 'postrider', 'create') or pg_has_role(v_role, to_regrole('postrider_worker'), 'usage')
    or pg_has_role(v_role, to_regrole('postrider_admin'), 'usage'), false);
end
$$;
comment on function postrider_internal.is_exempt_client(text) is
  'whether client_limits do not apply to a role, because it owns the schema, administers or runs workers';
