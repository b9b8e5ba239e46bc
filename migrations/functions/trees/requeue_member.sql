-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- The member waits for its turn again. So a chain still runs one step at a time, templates and run_if are evaluated
-- again, and max_parallel holds.
create or replace function postrider_internal.requeue_member(p_job bigint, p_parent bigint, p_new_key boolean,
                                                             p_from_start boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider_internal.trees;
  v_result postrider_internal.results;
  v_position int;
begin
  select * into v_tree from postrider_internal.trees t where t.job_id = p_parent for no key update;
  if not found then
    raise exception using errcode = 'PR005',
      message = format('job %s belongs to job %s, which was pruned', p_job, p_parent),
      hint = 'To run it again, insert a new job.';
  elsif not postrider_internal.is_open_tree(v_tree.state) then
    raise exception using errcode = 'PR005',
      message = format('job %s belongs to %s %s, which has ended', p_job, postrider_internal.kind_name(v_tree.kind),
                       p_parent),
      hint = format('Retry all of it: select postrider.retry(%s).', v_tree.root_id);
  elsif v_tree.expires_at <= now() then
    raise exception using errcode = 'PR005',
      message = format('job %s, which contains it, expired at %s', p_parent, v_tree.expires_at),
      hint = 'Insert a new job with a later expires_at.';
  end if;
  perform from postrider_internal.trees t where t.job_id = p_job for update;
  if found then
    -- A separate statement, so that it sees a result committed while it waited for the lock.
    select * into v_result from postrider_internal.results r where r.job_id = p_job;
    if postrider_internal.reset_tree(p_job, p_new_key) = 0 then
      raise exception using errcode = 'PR005',
        message = format('nothing in job %s can run again: it has succeeded, and a retry would change nothing',
                         p_job),
        hint = 'To run it again, insert a new job.';
    end if;
    if (select t.run_at > now() or t.run_at < v_tree.run_at from postrider_internal.trees t where t.job_id = p_job) then
      perform postrider_internal.reschedule_tree(p_job, greatest(v_tree.run_at, now()));
    end if;
  else
    v_result := postrider_internal.reopen_job(p_job, p_from_start);
    if v_result is null then
      raise exception using errcode = 'PR005', message = format('job %s has not finished', p_job),
        hint = 'Only a finished job can be retried; see select postrider.explain(id).';
    end if;
    delete from postrider_internal.filled_templates d where d.job_id = p_job;
  end if;
  update postrider_internal.members m
     set is_waiting = true, attempt = v_result.attempt, rekey = v_result.rekey + p_new_key::int
   where m.job_id = p_job
  returning m.position into v_position;
  perform postrider_internal.settle_tree(
    p_parent, v_tree.run, 'client', p_lowest => v_position, p_released => -1, p_finished => -1,
    p_failed => -postrider_internal.is_failed_member(v_result.state)::int, p_succeeded => -(v_result.state = 's')::int);
end
$$;
comment on function postrider_internal.requeue_member(bigint, bigint, boolean, boolean) is
  'makes a finished member of an open batch or chain wait for its turn again';
