-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans
-- Applies answers to the credentials of their calls. An answer refuses the token by a status of
-- credentials.expired_statuses, by 400 or 403 with invalid_token in WWW-Authenticate (RFC 6750), or by the code of the
-- envelope. Then the job goes back without a counted attempt (h), and prepare makes it wait for the refresh. If a newer
-- token exists, the job is sent again.
--
-- Two cases end this: a third refusal, or an endpoint that refuses a token which another accepts
-- (is_refused_by_endpoint). If two endpoints refuse a fresh token and none accepts it, the jobs of the credential are
-- held, except one a minute (hold_for_credentials).
--
-- Refreshes caused by refused jobs are at least 30 s apart; all jobs wait meanwhile. A token that has reached its end
-- is refreshed at once.
--
-- If a time lies ahead, the clock was set back since, and the time counts as old.
--
-- p_token: for each attempt, the effect of an answer rule on the token (judge_by_rule, refresh_for_own_rule).
--
-- Runs before finish, because rows of credentials are locked before rows of ready.
create or replace function postrider_internal.judge_credentials(p_attempts postrider_internal.finished_attempt[],
                                                                p_token text[] default null)
returns postrider_internal.finished_attempt[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt postrider_internal.finished_attempt;
  v_credential_of text[] := array_fill(null::text, array[cardinality(p_attempts)]);
  v_version_of bigint[] := array_fill(null::bigint, array[cardinality(p_attempts)]);
  v_job_of bigint[] := v_version_of;
  v_found text[] := v_credential_of;       -- refused, logged_out, accepted; null: the answer does not show it
  v_names text[];
  v_job bigint;
  v_credential postrider.credentials;
  v_refresh postrider_internal.refreshes;
  v_sends bigint;
  v_endpoints text[];
  v_endpoint text;
  v_has_ended boolean;
  v_is_locked boolean;
  v_timeout constant text := current_setting('lock_timeout');
  v_lock_timeout text := extract(epoch from least(interval '500 ms', nullif(v_timeout::interval, interval '0'))) * 1000
    || 'ms';
  v_resend constant text := 'the server refused the token; the job is sent again with a newer one, and no attempt is used';
begin
  for i in 1 .. cardinality(p_attempts) loop
    v_attempt := p_attempts[i];
    continue when v_attempt.credential is null or v_attempt.left_origin;
    v_credential_of[i] := v_attempt.credential;
    v_version_of[i] := v_attempt.version;
    v_job_of[i] := v_attempt.job_id;
    v_found[i] := case
      when p_token[i] = 'nothing' then null
      when p_token[i] like '%refresh' then 'refused'
      when v_attempt.code = 'logged_out' then 'logged_out'
      when v_attempt.code = 'token_expired' or v_attempt.code = 'http_status' and v_attempt.verdict not in ('w', 'd')
        and (
             v_attempt.status::int <@ (select c.expired_statuses from postrider.credentials c
                                       where c.name = v_attempt.credential)
             or v_attempt.status in (400, 403)
             and position('invalid_token' in coalesce(postrider_internal.header_value(v_attempt.headers,
                 'www-authenticate'), '')) > 0)
        then 'refused'
      -- These answers mean that the server accepted the token: a page, a missing resource, or a fault of the request.
      when v_attempt.verdict in ('s', 'n') or v_attempt.status between 200 and 399
        or v_attempt.status in (404, 405, 406, 409, 410, 415, 422)
        then 'accepted' end;
  end loop;
  v_names := postrider_internal.credentials_to_update(v_credential_of, v_found, v_job_of);

  for k in 1 .. cardinality(v_names) loop
    v_is_locked := false;
    begin
      perform set_config('lock_timeout', v_lock_timeout, true);
      select * into v_credential from postrider.credentials c where c.name = v_names[k] for no key update;
    exception when lock_not_available then
      v_is_locked := true;
      -- An open transaction may have changed every credential.
      v_lock_timeout := '1ms';
    end;
    perform set_config('lock_timeout', v_timeout, true);
    if v_is_locked then
      -- An open transaction holds the row. The other jobs of this worker do not wait for it. Refused jobs are sent
      -- again after 5 s, independent of their backoff, because they wait for a lock, not for a failed server.
      for i in 1 .. cardinality(p_attempts) loop
        continue when v_credential_of[i] is distinct from v_names[k] or coalesce(v_found[i], 'accepted') = 'accepted'
          or p_token[i] like '%final%';
        p_attempts[i].verdict := 'h';
        -- Not token_expired, which would count as one of the three refusals.
        p_attempts[i].code := 'refresh_failed';
        p_attempts[i].error := format('the server refused the token, and a transaction locks credential %s; the job is sent again, and no attempt is used', v_names[k]);
      end loop;
      continue;
    end if;
    continue when v_credential.name is null;
    select * into v_refresh from postrider_internal.refreshes r where r.credential = v_names[k];
    v_endpoints := array(
      select postrider_internal.accepting_endpoint(x.job)
        from unnest(v_credential_of, v_found, v_version_of, v_job_of) as x(credential, found, version, job)
       where x.credential = v_names[k] and x.found = 'accepted' and x.version = v_credential.version);
    v_endpoints := array_remove(v_endpoints, null);
    if v_endpoints <> '{}' then
      v_refresh := postrider_internal.record_token_accepted(v_names[k], v_endpoints);
    end if;
    for i in 1 .. cardinality(p_attempts) loop
      continue when v_credential_of[i] is distinct from v_names[k] or v_found[i] is null or v_found[i] = 'accepted';
      v_job := p_attempts[i].job_id;
      if v_credential.state = 'logged_off'
         or v_found[i] = 'logged_out' and v_version_of[i] = v_credential.version then
        if v_credential.state <> 'logged_off' then
          perform postrider_internal.log_off(v_names[k], 'the API answered that the user is logged out');
          v_credential.state := 'logged_off';
        end if;
        p_attempts[i].verdict := 'f';
        p_attempts[i].code := 'not_logged_in';
        p_attempts[i].error := format('credential %s is logged off: %s; log in and retry the job', v_names[k],
          case v_found[i] when 'logged_out' then 'the API answered that the user is logged out'
            else 'the server refused its token' end);
        continue;
      end if;
      -- A login that came meanwhile also serves these jobs. Without one, there is no other token to send.
      continue when not postrider_internal.credential_refreshes(v_credential.kind)
        and v_version_of[i] = v_credential.version;
      v_has_ended := coalesce(v_credential.expires_at <= clock_timestamp(), false);
      if p_token[i] like 'own %' and v_version_of[i] = v_credential.version and not v_has_ended then
        p_attempts[i] := postrider_internal.refresh_for_own_rule(p_attempts[i], v_credential, p_token[i]);
        continue;
      end if;
      if v_version_of[i] = v_credential.version and not v_has_ended then
        select postrider_internal.call_endpoint(j.service, j.method, j.url) into v_endpoint from postrider.jobs j
          where j.id = v_job;
        if postrider_internal.is_refused_by_endpoint(v_refresh, v_endpoint) then
          p_attempts[i].verdict := 'f';
          p_attempts[i].code := 'rejected_after_refresh';
          p_attempts[i].error := format('%s refuses the fresh token of credential %s, which other endpoints accept; check its rights and retry the job',
            v_endpoint, v_names[k]);
          continue;
        end if;
        v_refresh := postrider_internal.record_token_refused(v_refresh, v_credential.version, v_endpoint);
      end if;
      v_sends := postrider_internal.count_refused_sends(v_job);
      if v_sends >= 3 then
        p_attempts[i].verdict := 'f';
        p_attempts[i].code := 'rejected_after_refresh';
        p_attempts[i].error := format('the server refused the token of credential %s on each of %s sends; see its scope and place, and retry the job',
          v_names[k], v_sends);
        continue;
      end if;
      if v_version_of[i] = v_credential.version and v_credential.state = 'active' then
        if v_has_ended or coalesce(not v_refresh.forced_at between clock_timestamp() - interval '30 s'
                                   and clock_timestamp(), true) then
          perform postrider_internal.start_refresh(v_names[k], v_credential.version, false);
          v_credential.state := 'refreshing';
          update postrider_internal.refreshes r set forced_at = clock_timestamp()
            where r.credential = v_names[k] and not v_has_ended;
        else
          perform postrider_internal.postpone_refresh(v_names[k], v_refresh.forced_at);
          v_credential.state := 'cooldown';
        end if;
      elsif v_refresh.is_early and v_version_of[i] = v_credential.version then
        -- The token was being refreshed early, but it has ended already. No call may use it from now on.
        update postrider_internal.refreshes r set is_early = false where r.credential = v_names[k];
        v_refresh.is_early := false;
      end if;
      continue when p_token[i] like '%final%';
      p_attempts[i].verdict := 'h';
      p_attempts[i].code := 'token_expired';
      p_attempts[i].error := v_resend;
    end loop;
  end loop;
  return p_attempts;
end
$$;
comment on function postrider_internal.judge_credentials(postrider_internal.finished_attempt[], text[]) is
  'applies answers to the credentials of the attempts: starts refreshes, sends jobs again, ends them, or logs off';
