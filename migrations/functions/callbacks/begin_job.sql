-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Runs in a separate transaction before the first call of a job. A failed hook is recorded and does not stop the call.
-- If a hook cancels the job, there is no call. The same holds if expires_at passes while hooks run.
--
-- p_runs_hooks: false if the hooks of this job have ended the session several times. Then the function only reports the
-- state of the job.
create or replace function postrider_internal.begin_job(p_track int, p_seq bigint, p_fence bigint, p_job bigint,
                                                        p_runs_hooks boolean) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v record;
  v_state text;
  v_error text;
  v_runs boolean := false;
begin
  if p_runs_hooks then
    insert into postrider_internal.hook_starts (job_id) values (p_job) on conflict do nothing;
    v_runs := found;
  end if;
  for v in
    select h.event, h.function
      from postrider.hooks h
      join postrider.jobs j on j.id = p_job
     where v_runs and h.event = 'will_start' and (h.service is null or h.service = j.service)
       and (h.queue is null or h.queue = j.queue)
     order by h.id
  loop
    if v_state = '57014' and postrider_internal.is_time_over() then
      v_error := 'not run: the hooks before it took the 5 s that all hooks share';
    else
      select r.state, r.error into v_state, v_error
        from postrider_internal.run_callable(p_job, v.event, null, v.function) r;
    end if;
    if v_error is not null then
      insert into postrider_internal.callback_failures (job_id, event, function, sqlstate, error)
      values (p_job, v.event, v.function, v_state, v_error);
    end if;
  end loop;
  return postrider_internal.confirm_lease(p_track, p_seq, p_fence, p_job);
end
$$;
comment on function postrider_internal.begin_job(int, bigint, bigint, bigint, boolean) is
  'runs the will_start hooks of a job before its call, once for all attempts; returns the value of confirm_lease';
