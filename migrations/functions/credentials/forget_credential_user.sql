-- SPDX-License-Identifier: Apache-2.0
-- The next login may be another user's. So cookies are deleted, and the cache no longer finds old entries
-- (credential_owner). The caller has locked the row of credentials.
--
-- Calls of the old user may still be in flight. Their token has an earlier version than the next login. Their cookies
-- arrive later but belong to an earlier login (store_cookies).
create or replace function postrider_internal.forget_credential_user(p_credential text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from postrider_internal.secrets s where s.credential = p_credential;
  delete from postrider_internal.refused_endpoints e where e.credential = p_credential;
  delete from postrider_internal.cookies c where c.credential = p_credential;
  insert into postrider_internal.refreshes as r (credential, logins, login, login_version)
  select p_credential, 1, nextval('postrider_internal.fences'), c.version + 1 from postrider.credentials c
    where c.name = p_credential
      on conflict (credential) do update
     set logins = r.logins + 1, login = excluded.login, login_version = excluded.login_version,
         epoch = 0, worker = 0, until = null, due_at = now(), is_early = false, failures = 0,
         refreshed_at = null, accepted_by = '{}', forced_at = null, held_since = null, probe_job = null,
         refusals = 0, refused_since = null, last_error = null;
end
$$;
comment on function postrider_internal.forget_credential_user(text) is
  'deletes all data of the user of a credential: secrets, cookies, access to cached answers, and a refresh in progress';
