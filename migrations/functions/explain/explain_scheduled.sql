-- SPDX-License-Identifier: Apache-2.0
-- p_lane: the lane of the job. p_idle: why no worker takes its queue; null: one does. p_page: the page it has reached.
create or replace function postrider_internal.explain_scheduled(
  p_job postrider.jobs, p_lane text, p_idle text, p_page text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_at timestamptz;
  v_attempt int;
  v_expires timestamptz;
  v_key bytea;
  v_credential text;
begin
  select s.run_at, s.attempt, s.expires_at into v_at, v_attempt, v_expires from postrider_internal.scheduled s
   where s.job_id = p_job.id;
  if not found then
    return null;
  end if;
  select w.key into v_key from postrider_internal.cache_waits w where w.job_id = p_job.id and w.run_at = v_at;
  if found then
    return format('Job %s is scheduled: it waits for the same call, which %s, and checks again at %s%s.', p_job.id,
      coalesce((select format('job %s is making', c.job_id) from postrider_internal.cache_flights c
                where c.key = v_key and c.leads),
               'another job is about to make'),
      to_char(v_at, 'YYYY-MM-DD HH24:MI:SS TZ'), postrider_internal.explain_deadline(v_expires, v_at));
  end if;
  select w.credential into v_credential from postrider_internal.credential_waits w
    where w.job_id = p_job.id and w.run_at = v_at;
  if found then
    return format('Job %s is scheduled: it waits for credential %s%s, and checks again at %s%s.', p_job.id,
                  v_credential,
      (select case when c.held_since is not null then ': ' || c.hold_reason
       else ' to be refreshed' end || coalesce(' (' || c.last_error || ')', '')
         || coalesce(case when c.next_try_at > now()
                     then ', next attempt at ' || to_char(c.next_try_at, 'HH24:MI:SS TZ')
                     when c.next_try_at <= now() then ', next attempt in a moment' end, '')
         from postrider.credential_status c where c.name = v_credential),
      to_char(v_at, 'YYYY-MM-DD HH24:MI:SS TZ'), postrider_internal.explain_deadline(v_expires, v_at));
  end if;
  return format('Job %s is scheduled: %s at %s, %s%s%s%s%s%s.', p_job.id,
    case when v_attempt > 0 then format('attempt %s follows', v_attempt + 1) else 'it runs' end,
    to_char(v_at, 'YYYY-MM-DD HH24:MI:SS TZ'),
    case when v_at > now() then 'in ' || date_trunc('second', v_at - now()) else 'which is now' end,
    postrider_internal.explain_budget(p_lane, v_attempt),
    ', but ' || postrider_internal.explain_hold(p_job.queue, p_lane, p_idle, v_at, null, null),
    postrider_internal.explain_deadline(v_expires, v_at),
    case when v_attempt > 0 or exists (select from postrider_internal.throttled_attempts(p_job.id, v_attempt + 1))
      then (
           select format('; attempt %s ended with %s%s: %s', t.attempt, t.error_code,
                         postrider_internal.deciding_rule(t.job_id, t.fence, ' by rule '), t.error)
             from postrider_internal.past_attempts t where t.job_id = p_job.id and t.error_code is not null
               order by t.fence desc limit 1) end, p_page)
    || case when p_job.service is not null then postrider_internal.explain_servers(p_job) else '' end;
end
$$;
comment on function postrider_internal.explain_scheduled(postrider.jobs, text, text, text) is
  'the sentence of explain for a job in scheduled; null: it is not there';
