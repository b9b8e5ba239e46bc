-- SPDX-License-Identifier: Apache-2.0
-- planner: generic-plans
-- Part of the keys of cache entries, so an answer cached for one user of a credential never serves the next user.
create or replace function postrider_internal.credential_owner(p_credential text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A credential that was deleted and inserted again counts its logins from 0.
  return (select format(E'%s\n%s\n%s', p_credential, r.logins, extract(epoch from c.created_at))
            from postrider_internal.refreshes r join postrider.credentials c on c.name = r.credential
           where r.credential = p_credential);
end
$$;
comment on function postrider_internal.credential_owner(text) is
  'identifies the user who is logged in with a credential; null: no login yet';
