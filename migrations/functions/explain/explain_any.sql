-- SPDX-License-Identifier: Apache-2.0
-- A part of a sentence that does not apply is null. format() prints null as an empty text.
create or replace function postrider_internal.explain_any(p_id bigint) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_job postrider.jobs;
  v_result postrider_internal.results;
  v_end postrider_internal.outcomes;
  v_place record;
  v_text text;
  v_lane text;
  v_idle text;
  v_list bigint;
  v_page text;
  v_hold text;
begin
  select * into v_job from postrider.jobs j where j.id = p_id;
  select * into v_result from postrider_internal.results r where r.job_id = p_id;
  if found then
    return format('Job %s %s at %s%s.', p_id,
      case v_result.state when 's' then 'succeeded' when 'f' then 'failed' when 'c' then 'was cancelled'
        when 'e' then 'expired' when 'k' then 'was skipped' else 'ended with an unknown outcome' end,
      to_char(v_result.finished_at, 'YYYY-MM-DD HH24:MI:SS TZ'),
      case when v_result.error_code is not null
             then postrider_internal.explain_failure(p_id, v_result)
           when v_result.status_code is not null
             then format(' with status %s on attempt %s', v_result.status_code, v_result.attempt)
               || postrider_internal.deciding_rule(p_id, v_result.fence, ' by rule ')
           when v_result.error is not null then format(': %s', v_result.error) end)
      || coalesce((
           select format(' Its callback %s failed: %s', coalesce(f.callback, f.function, f.event), f.error)
             from postrider_internal.callback_failures f where f.job_id = p_id order by f.id desc limit 1), '');
  end if;
  select * into v_end from postrider_internal.outcomes o where o.job_id = p_id;
  if found then
    return format('Job %s %s at %s%s.', p_id,
      case when v_end.state in ('c', 'e', 'k')
        then format('is %s, and its callbacks, hooks and notifications run',
                    postrider_internal.state_name(v_end.state))
        else 'is running: its call has ended, and its callbacks, hooks and notifications run' end,
      to_char(greatest(v_end.due_at, now()), 'YYYY-MM-DD HH24:MI:SS TZ'),
      case when v_end.tries > 0 then format('; this step has failed %s time(s), see the log of the workers', v_end.tries)
        else '' end);
  end if;
  if v_job.kind <> 'request' or v_job.parent_id is not null then
    v_text := postrider_internal.explain_member(v_job);
    if v_text is not null then
      return v_text;
    end if;
  end if;
  v_page := postrider_internal.next_page_phrase(v_job);
  v_lane := postrider_internal.job_lane(coalesce(v_job.lane, v_job.service), v_job.url);
  v_idle := postrider_internal.explain_absence(v_job.queue);
  v_text := postrider_internal.explain_scheduled(v_job, v_lane, v_idle, v_page);
  if v_text is not null then
    return v_text;
  end if;
  select p.*, w.name, case when p_id = any (w.waiting_jobs) then w.results_waiting_since end as waits,
         case when p_id = any (w.judging_jobs) then w.judgements_waiting end as judgements,
         case when w.heartbeat_at < clock_timestamp() - interval '10 s' then w.heartbeat_at end as silent,
         postrider_internal.explain_deadline(r.expires_at, null) as deadline into v_place
    from postrider_internal.find_ready_row(p_id) p
    left join postrider_internal.ready r on r.ctid = p.spot
    left join postrider_internal.workers w on w.id = p.worker;
  if not found then
    v_list := postrider_internal.intake_list(p_id);
    if v_list is null then
      return format('Job %s is changing its state; run explain again in a moment.', p_id);
    end if;
    return format('Job %s is ready: %s%s%s%s.', p_id, postrider_internal.explain_intake(v_list, v_lane),
      ', but ' || postrider_internal.explain_hold(v_job.queue, v_lane, v_idle, null, null, null),
      postrider_internal.explain_deadline(v_job.expires_at, null), v_page);
  end if;
  if v_place.worker > 0 then
    return format('Job %s is running: attempt %s on worker %s since %s%s%s%s%s%s%s.', p_id, v_place.attempt,
                  v_place.name,
      to_char(v_place.since, 'YYYY-MM-DD HH24:MI:SS TZ'),
      '; its call has ended, but the database has refused results since '
        || to_char(v_place.waits, 'HH24:MI:SS TZ')
        || ', so the worker retries the write',
      '; its call has ended, and its answer waits for the judging session of this worker (' || v_place.judgements
        || ' wait there)',
      ', but the worker has sent no heartbeat since ' || to_char(v_place.silent, 'HH24:MI:SS TZ')
        || ', and another worker takes over the job 15 s later',
      postrider_internal.explain_phase(p_id, v_place.fence),
      case when postrider_internal.awaits_hooks(v_job, v_place.since)
        then '; its will_start hooks come before the call and have not ended' end,
      replace(v_page, 'is next', 'is being fetched'));
  end if;
  v_hold := postrider_internal.explain_hold(v_job.queue, v_lane, v_idle, null, v_place.track, v_place.seq);
  if v_hold is not null then
    return format('Job %s is ready, but %s%s%s.', p_id, v_hold, v_place.deadline, v_page);
  end if;
  return format('Job %s is ready: %s%s%s.', p_id,
                postrider_internal.explain_turn(v_job, v_lane, v_place.track, v_place.seq), v_place.deadline, v_page)
    || case when v_job.service is not null then postrider_internal.explain_servers(v_job) else '' end;
end
$$;
comment on function postrider_internal.explain_any(bigint) is 'the sentence of explain for an existing job of any role';
