-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- In a transaction of its own, before the first call of a job. A hook that fails is noted and does not stop the call;
-- one that cancels the job does, and so does expires_at, which may pass while hooks run.
--
-- p_runs_hooks: false for one whose hooks have ended the session again and again: then only what became of the job is
-- told.
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
      v_error := 'not run: the hook before it took all of the 5 s that they have together';
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
  'runs the will_start hooks of a job that is about to be called; once, however often it is tried. Whether to call it, as confirm_lease has it';
