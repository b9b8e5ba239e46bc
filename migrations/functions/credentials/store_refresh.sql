-- SPDX-License-Identifier: Apache-2.0
-- Has an effect only while this worker owns the refresh. A token that arrives too late is stored as the spare. The
-- server may have revoked the token before it, and then the spare is the only one that works. It is never stored for
-- another login than its own. Logins and refreshes both take numbers from fences, with the credential's row locked.
--
-- p_verdict: as in read_refresh_answer, or h: this worker made no call, and another one is to make the refresh at once.
-- p_wait_ms: the minimum wait that the endpoint asked for. A worker without a key passes the secrets in p_plain as
-- name, value, ...; otherwise p_plain is empty.
--
-- An open transaction may hold the credential's row for long. Heartbeats share this session, so this function does not
-- wait. The worker keeps the result and calls again. The lease is extended, so that no other worker uses the refresh
-- token once more.
--
-- If the refresh is finally refused and a spare exists, the spare is tried once. Nothing is lost if it was used before.
create or replace function postrider_internal.store_refresh(
  p_credential text, p_epoch bigint, p_version bigint, p_verdict "char", p_sealed bytea, p_plain text[],
  p_expires_in int,
  p_wait_ms bigint, p_error text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_refresh postrider_internal.refreshes;
  v_credential postrider.credentials;
  v_plain jsonb := case when cardinality(p_plain) > 0 then jsonb_object(p_plain) end;
begin
  begin
    select * into v_credential from postrider.credentials c where c.name = p_credential for no key update;
  exception when lock_not_available then
    update postrider_internal.refreshes r set until = greatest(r.until, clock_timestamp() + interval '5 s')
     where r.ctid = (
             select x.ctid from postrider_internal.refreshes x
              where x.credential = p_credential and x.epoch = p_epoch for no key update skip locked);
    return null;
  end;
  select * into v_refresh from postrider_internal.refreshes r where r.credential = p_credential;
  if v_refresh.epoch is distinct from p_epoch or v_credential.version <> p_version
    or v_credential.state <> 'refreshing' then
    if p_verdict = 's' and v_credential.version = p_version and v_credential.state in ('refreshing', 'cooldown')
       and p_epoch > v_refresh.login then
      update postrider_internal.secrets s set spare_sealed = p_sealed, spare_plain = v_plain
        where s.credential = p_credential;
    end if;
    return false;
  end if;

  if p_verdict = 's' then
    update postrider_internal.secrets s
       set spare_sealed = s.sealed, spare_plain = s.plain, sealed = p_sealed, plain = v_plain, version = p_version + 1,
           has_token = true
     where s.credential = p_credential;
    update postrider.credentials c
       set state = 'active', version = p_version + 1, expires_at = least(v_refresh.began_at, clock_timestamp())
         + make_interval(secs => p_expires_in)
     where c.name = p_credential;
    update postrider_internal.refreshes r
       set epoch = 0, worker = 0, until = null, is_early = false, failures = 0, refreshed_at = clock_timestamp(),
           last_refresh_at = clock_timestamp(), refreshes = r.refreshes + 1, accepted_by = '{}', last_error = null,
           refusals = 0, refused_since = null
     where r.credential = p_credential
    returning * into v_refresh;
    if v_refresh.held_since is null then
      perform postrider_internal.release_credential_waits(p_credential, false);
    end if;
    return true;
  end if;

  if p_verdict = 'h' then
    update postrider_internal.refreshes r set epoch = 0, worker = 0, until = null, last_error = p_error
      where r.credential = p_credential;
    perform pg_notify('postrider', 'credentials');
    return true;
  end if;
  update postrider_internal.refreshes r
     set epoch = 0, worker = 0, until = null, last_error = p_error,
         failures = case when p_verdict = 'f' then 0 else r.failures + 1 end,
         refusals = case when p_verdict = 'd' then r.refusals + 1 else 0 end,
         refused_since = case when p_verdict = 'd'
           then least(coalesce(r.refused_since, clock_timestamp()), clock_timestamp()) end,
         due_at = clock_timestamp() + greatest(
           least(interval '1 s' * 2 ^ least(r.failures, 6), interval '1 min'),
           least(interval '1 ms' * coalesce(p_wait_ms, 0), interval '1 hour'))
   where r.credential = p_credential
  returning * into v_refresh;
  -- One unusual answer is no reason to log off. Ten in a row over ten minutes are.
  if v_refresh.refusals >= 10 and v_refresh.refused_since <= clock_timestamp() - interval '10 min' then
    p_verdict := 'f';
    update postrider_internal.refreshes r set failures = 0, refusals = 0, refused_since = null
      where r.credential = p_credential;
  end if;
  if p_verdict = 'f' then
    update postrider_internal.secrets s
       set sealed = s.spare_sealed, plain = s.spare_plain, spare_sealed = null, spare_plain = null
     where s.credential = p_credential and num_nonnulls(s.spare_sealed, s.spare_plain) > 0;
    if found then
      update postrider_internal.refreshes r set due_at = clock_timestamp() where r.credential = p_credential;
      perform pg_notify('postrider', 'credentials');
    elsif v_refresh.is_early and v_credential.expires_at > clock_timestamp() then
      -- The token is valid until its end, and calls go on until then.
      update postrider.credentials c set state = 'cooldown' where c.name = p_credential;
      update postrider_internal.refreshes r set due_at = v_credential.expires_at where r.credential = p_credential;
    else
      update postrider.credentials c set state = 'logged_off', expires_at = null where c.name = p_credential;
      perform postrider_internal.release_credential_waits(p_credential, false);
    end if;
    return true;
  end if;
  update postrider.credentials c set state = 'cooldown' where c.name = p_credential;
  if v_refresh.failures >= 5 then
    perform postrider_internal.release_credential_waits(p_credential, true);
  end if;
  return true;
end
$$;
comment on function postrider_internal.store_refresh(text, bigint, bigint, "char", bytea, text[], int, bigint, text) is
  'stores a refresh result and releases jobs, retries or logs off; false: lease lost; null: row locked, call again';
