-- SPDX-License-Identifier: Apache-2.0
-- A client may have written the rule, so it must not harm other jobs of the credential. Therefore
-- - it refreshes each version at most once, and 30 s after the last such refresh at the earliest;
-- - the refresh counts as early: if the end of the token is known, other calls go on with it meanwhile;
-- - no endpoint counts as refusing, and no job is held.
--
-- The job itself is sent again after a second at the earliest, without using an attempt. After the third such answer in
-- a row it fails. The caller has locked the row of credentials.
create or replace function postrider_internal.refresh_for_own_rule(
  p_attempt postrider_internal.finished_attempt, p_credential postrider.credentials, p_token text)
returns postrider_internal.finished_attempt
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt postrider_internal.finished_attempt := p_attempt;
  v_refresh postrider_internal.refreshes;
  -- An earlier attempt of the batch may have changed it.
  v_state constant text := (select c.state from postrider.credentials c where c.name = p_credential.name);
  v_wait interval := interval '1 s';
begin
  select * into v_refresh from postrider_internal.refreshes r where r.credential = p_credential.name;
  if v_state = 'active' then
    if v_refresh.own_version = p_credential.version then
      return v_attempt;
    elsif v_refresh.own_at between clock_timestamp() - interval '30 s' and clock_timestamp() then
      v_wait := v_refresh.own_at + interval '30 s' - clock_timestamp();
    elsif postrider_internal.start_refresh(p_credential.name, p_credential.version, true) then
      update postrider_internal.refreshes r set own_version = p_credential.version, own_at = clock_timestamp()
        where r.credential = p_credential.name;
    end if;
  end if;
  if p_token like '%final%' then
    return v_attempt;
  elsif postrider_internal.count_refused_sends(v_attempt.job_id) >= 3 then
    v_attempt.code := 'rejected_after_refresh';
    v_attempt.error := format('a rule of the job judged the token of credential %s as expired 3 times; correct the rule and retry the job',
      p_credential.name);
    return v_attempt;
  end if;
  v_attempt.verdict := 'd';
  v_attempt.code := 'token_expired';
  v_attempt.error := 'a rule of the job judges the token as expired; the job is sent again, and no attempt is used';
  v_attempt.retry_after_ms := greatest(1000, extract(epoch from v_wait) * 1000)::bigint;
  return v_attempt;
end
$$;
comment on function postrider_internal.refresh_for_own_rule(postrider_internal.finished_attempt, postrider.credentials,
                                                            text) is
  'applies a refresh rule of a job itself: refreshes once, and sends the job again later; returns its attempt';
