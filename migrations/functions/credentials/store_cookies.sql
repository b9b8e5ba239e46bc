-- SPDX-License-Identifier: Apache-2.0
-- A line has seven fields, separated by tabs: domain, subdomains, path, secure, expiry, name, value. A line that begins
-- with a tab names a cookie that the call was given and that was removed.
--
-- Concurrent calls share a jar, so each passes only its changes. A slow call then does not undo the changes of others.
-- A cookie is removed only while it still has the value that the call was given.
--
-- A server cannot spoil or fill a jar. Lines are skipped if they could not be sent again (libcurl accepts control
-- characters in a path) or if their names are too long for the index. Only the newest 200 cookies stay.
--
-- p_version and p_fence: of the call's token and of its claim. If the call carried another user's token, its cookies
-- are dropped. A refresh changes the version, not the login. The column login covers a login that commits right after
-- this check. Cookies of an earlier login are not sent and do not replace newer ones.
--
-- An open transaction may hold the rows of the jar because it has logged in or out (forget_credential_user). One that
-- deletes the service holds the row of the service. This function runs at the end of a call, and a timeout would lose
-- its whole batch.
--
-- So it waits p_lock_timeout for rows and ten times as long for the advisory lock. Then it drops the changes of this
-- call, because a result is more important than a cookie.
create or replace function postrider_internal.store_cookies(
  p_service text, p_credential text, p_version bigint, p_fence bigint, p_lines text, p_lock_timeout text default '20ms')
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_login bigint := 0;
  v_timeout constant text := current_setting('lock_timeout');
begin
  if p_credential <> '' then
    -- A call that was claimed before the login may have carried another user's cookies.
    select r.login into v_login from postrider_internal.refreshes r
     where r.credential = p_credential and r.login_version <= p_version and r.login < p_fence;
    if not found then
      return true;
    end if;
  end if;
  begin
    -- Rolled back with all other changes of the block if it fails.
    --
    -- One writer for each jar: cookies come in any order, and two batches would wait for each other. The lock is short.
    -- But any session of the database may take the same advisory lock and hold it.
    perform set_config('lock_timeout', (10 * extract(milliseconds from p_lock_timeout::interval))::int || 'ms', true);
    perform pg_advisory_xact_lock(1886351475, hashtext(p_service));
    perform set_config('lock_timeout', p_lock_timeout, true);
    delete from postrider_internal.cookies c
     where c.service = p_service and c.credential = p_credential and c.login <= v_login
       and (c.login < v_login or E'\t' || c.line = any (string_to_array(p_lines, E'\n')));
    insert into postrider_internal.cookies (service, credential, domain, path, name, login, line)
    select distinct on (domain, path, name) p_service, p_credential, domain, path, name, v_login, line
      from string_to_table(p_lines, E'\n') as line
     cross join lateral (values (split_part(line, E'\t', 1), split_part(line, E'\t', 3), split_part(line, E'\t', 6)))
           as f(domain, path, name)
     where name <> '' and line ~ E'^[^\\x01-\\x1f\\x7f]+(\\t[^\\x01-\\x1f\\x7f]*){6}$'
       and octet_length(domain) + octet_length(path) + octet_length(name) <= 1000
       and exists (select from postrider.services s where s.name = p_service)
     order by domain, path, name
        on conflict (service, credential, domain, path, name) do update
           set line = excluded.line, login = excluded.login, set_at = now()
         where cookies.login < excluded.login or cookies.login = excluded.login and cookies.line <> excluded.line;
    delete from postrider_internal.cookies c
     where c.ctid = any (array(
             select o.ctid from postrider_internal.cookies o
              where o.service = p_service and o.credential = p_credential
              order by o.login desc, o.set_at desc, o.name
             offset 200));
    perform set_config('lock_timeout', v_timeout, true);
  exception
    when lock_not_available then
      return false;
    when foreign_key_violation then
      -- The service was deleted during the call, so its cookies are not needed.
      return true;
  end;
  return true;
end
$$;
comment on function postrider_internal.store_cookies(text, text, bigint, bigint, text, text) is
  'stores the cookies that a call changed in the jar of its service and credential; false if its rows are locked';
