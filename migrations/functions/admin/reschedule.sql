-- SPDX-License-Identifier: Apache-2.0
-- The job goes to scheduled, even if it is due now, and promote moves it to the ready rows of its new track. has_slot:
-- no retry budget moves a run_at that a user has set.
create or replace function postrider.reschedule(id bigint, run_at timestamptz default null, priority int default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_job postrider.jobs;
  v_row record;
  v_tree postrider_internal.trees;
  v_track int;
  v_lane text;
begin
  perform postrider_internal.raise_null_argument('id', reschedule.id is null,
                                                 'Give the id of a job, as INSERT … RETURNING id and submit give it.');
  if num_nonnulls(reschedule.run_at, reschedule.priority) = 0 then
    raise exception using errcode = 'PR001', column = 'run_at',
      message = 'run_at: run_at and priority are both null',
      hint = 'Give at least one of them, like reschedule(7, now() + interval ''10 min'') or reschedule(7, priority => 4).';
  end if;
  select * into v_job from postrider.jobs j where j.id = reschedule.id;
  if not found then
    raise exception using errcode = 'PR003', message = postrider_internal.missing_job_message(reschedule.id),
      hint = 'Look it up in postrider.job_status.';
  end if;
  if not postrider_internal.is_priority(reschedule.priority) then
    raise exception using errcode = 'PR001', column = 'priority',
      message = format('priority: %s is out of range', reschedule.priority),
      hint = 'Give -100 to 100; low is -4, normal 0, high 4.';
  end if;
  if not isfinite(reschedule.run_at) then
    raise exception using errcode = 'PR001', column = 'run_at', message = 'run_at: must be a point in time',
      hint = 'Give now() to run it at once.';
  end if;
  if v_job.kind <> 'request' then
    if reschedule.priority is not null then
      raise exception using errcode = 'PR001', column = 'priority',
        message = format('priority: job %s is a %s, and each of its members has its own', reschedule.id, v_job.kind),
        hint = 'Give only a run_at; to change priorities, reschedule its scheduled or ready members.';
    end if;
    select * into v_tree from postrider_internal.trees t where t.job_id = reschedule.id for update;
    if postrider_internal.is_open_tree(v_tree.state) is not true then
      raise exception using errcode = 'PR005', message = format('job %s has finished', reschedule.id),
        hint = 'Retry it; only a batch or chain without calls so far can be rescheduled.';
    end if;
    perform postrider_internal.raise_expired_run_at(reschedule.run_at, v_tree.expires_at);
    perform postrider_internal.reschedule_tree(reschedule.id, reschedule.run_at);
    -- Checked last, so that members claimed while others were moved count too.
    if postrider_internal.has_begun_descendants(reschedule.id) then
      raise exception using errcode = 'PR005',
        message = format('job %s has begun: members of it are running or were called', reschedule.id),
        hint = 'Cancel it, or reschedule its scheduled or ready members.';
    end if;
    return;
  end if;
  for i in 1 .. 100 loop
    perform postrider_internal.feed_job(reschedule.id);
    delete from postrider_internal.ready r
     where r.ctid = (select p.spot from postrider_internal.find_ready_row(reschedule.id) p) and r.worker = 0
    returning r.track, r.attempt, r.max_attempts, r.rekey, r.at_most_once, r.expires_at, r.parent_id, r.has_callbacks,
      r.since as at into v_row;
    exit when found;
    delete from postrider_internal.scheduled s where s.job_id = reschedule.id
    returning s.track, s.attempt, s.max_attempts, s.rekey, s.at_most_once, s.expires_at, s.parent_id, s.has_callbacks,
      s.run_at as at into v_row;
    exit when found or (select p.worker > 0 from postrider_internal.find_ready_row(reschedule.id) p)
      or exists (select from postrider_internal.results r where r.job_id = reschedule.id)
      or exists (select from postrider_internal.outcomes o where o.job_id = reschedule.id)
      or exists (select from postrider_internal.members m where m.job_id = reschedule.id and m.is_waiting);
    -- The job was between two places (promoted, or rescheduled by another session): tries again.
  end loop;
  if v_row is null then
    raise exception using errcode = 'PR005',
      message = case when exists (select from postrider_internal.members m
                                  where m.job_id = reschedule.id and m.is_waiting)
        then format('job %s waits for its turn in job %s', reschedule.id, v_job.parent_id)
        else format('job %s is running or has finished', reschedule.id) end,
      hint = 'Only a ready or scheduled job can be rescheduled; cancel a running one, retry a finished one.';
  end if;
  perform postrider_internal.raise_expired_run_at(coalesce(reschedule.run_at, v_row.at), v_row.expires_at);
  v_track := v_row.track;
  if reschedule.priority is not null then
    -- Only the track holds the new priority, so it must not be removed before the row is committed.
    v_lane := postrider_internal.job_lane(coalesce(v_job.lane, v_job.service), v_job.url);
    loop
      select t.id into v_track from postrider_internal.tracks t
       where t.queue = v_job.queue and t.lane = v_lane and t.priority = reschedule.priority
         for key share;
      exit when found;
      insert into postrider_internal.tracks (queue, lane, priority) values (v_job.queue, v_lane, reschedule.priority)
        on conflict do nothing;
    end loop;
  end if;
  insert into postrider_internal.scheduled (run_at, job_id, track, attempt, max_attempts, rekey, at_most_once,
                                            expires_at, parent_id, has_callbacks, has_slot)
  values (coalesce(reschedule.run_at, v_row.at), reschedule.id, v_track, v_row.attempt, v_row.max_attempts,
          v_row.rekey, v_row.at_most_once, v_row.expires_at, v_row.parent_id, v_row.has_callbacks,
          reschedule.run_at is not null);
end
$$;
comment on function postrider.reschedule(bigint, timestamptz, int) is
  'changes run_at or priority (null: unchanged) of a ready or scheduled job, or run_at of a batch or chain without '
  'calls';
