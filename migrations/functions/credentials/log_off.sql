-- SPDX-License-Identifier: Apache-2.0
-- Waiting jobs become ready and end with not_logged_in when a worker prepares them. The caller has locked the row.
create or replace function postrider_internal.log_off(p_credential text, p_error text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.forget_credential_user(p_credential);
  update postrider_internal.refreshes r set last_error = p_error where r.credential = p_credential;
  update postrider.credentials c set state = 'logged_off', expires_at = null where c.name = p_credential;
  perform postrider_internal.release_credential_waits(p_credential, false);
end
$$;
comment on function postrider_internal.log_off(text, text) is
  'logs a credential off, by a user or because the API said so, and deletes its secrets';
