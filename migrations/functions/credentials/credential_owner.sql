-- SPDX-License-Identifier: Apache-2.0
-- planner: generic-plans
-- Part of the keys of cached answers: what was cached for one user of a credential is never served to the next.
create or replace function postrider_internal.credential_owner(p_credential text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- One that was deleted and inserted again counts its logins from 0.
  return (select format(E'%s\n%s\n%s', p_credential, r.logins, extract(epoch from c.created_at))
            from postrider_internal.refreshes r join postrider.credentials c on c.name = r.credential
           where r.credential = p_credential);
end
$$;
comment on function postrider_internal.credential_owner(text) is
  'what names the user that a credential stands for now; null: never logged in';
