-- SPDX-License-Identifier: Apache-2.0
-- A line has seven fields, separated by tabs: domain, subdomains, path, secure, expiry, name, value. One that begins
-- with a tab is what the call was given behind it, and that is gone. Calls that run at the same time share a jar: each
-- brings only what it changed, so that a slow one does not put back what others have renewed or removed, and what is
-- gone goes only as long as it is what that call was given.
--
-- A server cannot spoil or fill a jar: a line that could not be sent again (libcurl lets control characters into a
-- path), or whose names no index can hold, is passed over, and of many cookies the newest 200 stay.
--
-- p_version and p_fence: of the token that the call carried, and of its claim. What it carried may have been another
-- user's: then its cookies go nowhere. A refresh changes the version, not the login. A login that commits just after
-- this look is served by the column login: cookies of an earlier one are neither sent nor put in the place of newer
-- ones.
--
-- An open transaction that has logged in or out (forget_credential_user) holds the jar's rows, one that deletes the
-- service its key. This runs in the end of a call, which would take its whole batch along when its time is over: the
-- rows are waited for as long as p_patience says, the key ten times as long, then what this call changed is let go. A
-- cookie is worth less than a result.
create or replace function postrider_internal.store_cookies(
  p_service text, p_credential text, p_version bigint, p_fence bigint, p_lines text, p_patience text default '20ms')
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
    -- Put back with all else that the block has done, if it fails.
    --
    -- One writer for a jar: cookies come in any order, and two batches would wait for each other. It is done in a
    -- moment; but any login of the database may take the key, and keep it.
    perform set_config('lock_timeout', (10 * extract(milliseconds from p_patience::interval))::int || 'ms', true);
    perform pg_advisory_xact_lock(1886351475, hashtext(p_service));
    perform set_config('lock_timeout', p_patience, true);
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
      -- The service was deleted while the call ran: nobody needs its cookies.
      return true;
  end;
  return true;
end
$$;
comment on function postrider_internal.store_cookies(text, text, bigint, bigint, text, text) is
  'puts what a call changed among its cookies into the jar of its service and credential; false if somebody holds its rows';
