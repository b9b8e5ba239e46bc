-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans
-- A token is refreshed shortly before it ends: in the last fifth of its life, at most a minute before. So a token with
-- a life of seconds is not refreshed all the time.
--
-- A credential without secrets counts as logged off, even if a user set another state.
--
-- p: the API refuses each token, so all jobs except the probe wait, as after w. A job that is not released in time is
-- checked again.
--
-- w: the caller makes its jobs wait in this transaction and holds the row of the credential until the end. The session
-- that ends the refresh changes that row first and searches for waiting jobs afterwards, so it finds them.
--
-- If an open transaction locks that row, the job waits too and is checked again later, so other jobs of the worker do
-- not wait. The caller's lock_timeout limits the wait for this lock.
create or replace function postrider_internal.decide_credential_step(p_credential text, out verdict "char",
                                                                     out code text, out error text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v record;
begin
  if p_credential = '' then
    verdict := 'f';
    code := 'config';
    error := 'the job needs a login, but neither it nor its service names a credential; set services.credential and retry the job';
    return;
  end if;
  for i in 1 .. 20 loop
    select c.kind, c.state, c.version, c.expires_at, coalesce(s.has_token, false) as has_token,
           s.credential is null as is_empty, r.*,
           c.expires_at - clock_timestamp() as life
      into v
      from postrider.credentials c
      left join postrider_internal.secrets s on s.credential = c.name
      left join postrider_internal.refreshes r on r.credential = c.name
     where c.name = p_credential;
    if not found then
      verdict := 'f';
      code := 'config';
      error := format('credential %s no longer exists; insert it again, log in and retry the job', p_credential);
      return;
    elsif v.state = 'logged_off' or v.logins is null or v.is_empty then
      verdict := 'f';
      code := 'not_logged_in';
      error := format('credential %s is logged off%s; log in (worker credential set, or postrider.log_in) and retry the job',
        p_credential, coalesce(': ' || v.last_error, ''));
      return;
    elsif not postrider_internal.credential_refreshes(v.kind) then
      return;
    elsif v.state = 'active' then
      if v.has_token and coalesce(v.life > interval '0', true) then
        if v.life < least(interval '1 min',
                          (v.expires_at - coalesce(v.refreshed_at, v.expires_at - interval '5 min')) * 0.2) then
          begin
            perform postrider_internal.start_refresh(p_credential, v.version, true);
          exception when lock_not_available then
            null; -- The next job tries again; the token is still valid.
          end;
        end if;
        if v.held_since is null then
          return;
        end if;
        -- An endpoint may have accepted the token before the row is locked.
        verdict := 'p';
        begin
          perform from postrider.credentials c where c.name = p_credential for share;
          if exists (select from postrider_internal.refreshes r
                     where r.credential = p_credential and r.held_since is not null) then
            return;
          end if;
        exception when lock_not_available then
          verdict := 'w';
          return;
        end;
        verdict := null;
        continue;
      end if;
      verdict := 'w';
      begin
        if postrider_internal.start_refresh(p_credential, v.version, false) then
          return;
        end if;
      exception when lock_not_available then
        return;
      end;
    else
      if v.is_early and v.has_token and v.life > interval '0' then
        verdict := null;
        return;
      end if;
      verdict := 'w';
      begin
        perform from postrider.credentials c
          where c.name = p_credential and c.state in ('refreshing', 'cooldown') for share;
        if found then
          return;
        end if;
      exception when lock_not_available then
        return;
      end;
    end if;
    -- The state has changed meanwhile.
    verdict := null;
  end loop;
  verdict := 'w';
end
$$;
comment on function postrider_internal.decide_credential_step(text) is
  'the next step for jobs of a credential: null: call; w: wait for a refresh; p: wait unless probe; f: fail';
