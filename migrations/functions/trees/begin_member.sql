-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
create or replace function postrider_internal.begin_member(
  p_job postrider.jobs, p_tree postrider_internal.trees, p_mode postrider_internal.duty_mode) returns "char"
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_has_callbacks boolean := postrider_internal.has_callbacks(p_job);
  v_state "char";
  v_code text;
  v_error text;
  v_holds boolean;
  v_run_at timestamptz := greatest(p_job.run_at, p_tree.run_at);
  v_expires_at timestamptz := least(p_job.expires_at, p_tree.expires_at);
  v_track int;
  v_member postrider_internal.members;
  v_tree postrider_internal.trees;
  v_is_cheap_only constant boolean := postrider_internal.is_cheap_mode(p_mode);
begin
  -- Each member that reads an answer parses it, so many of them may take long. No call's result should wait for that.
  if p_mode = 'finish' and clock_timestamp() > statement_timestamp() + interval '100 ms' then
    raise object_not_in_prerequisite_state using message = 'settle begins members that take long';
  end if;
  if v_expires_at <= now() then
    v_state := 'e';
    v_code := 'expired';
    v_error := 'not started before expires_at';
  elsif p_job.run_if is not null then
    perform postrider_internal.leave_to_judging(
      not postrider_internal.jsonpath_is_cheap(p_job.run_if::jsonpath), v_is_cheap_only);
    if p_mode = 'judge' then
      begin
        select r.holds, r.defect into v_holds, v_error from postrider_internal.run_if_holds(p_job) r;
      exception when query_canceled then
        v_error := postrider_internal.too_expensive('run_if');
        v_code := 'too_expensive';
      end;
    else
      select r.holds, r.defect into v_holds, v_error from postrider_internal.run_if_holds(p_job, v_is_cheap_only) r;
    end if;
    if v_error is not null then
      v_state := 'f';
      v_code := coalesce(v_code, 'template');
    elsif not coalesce(v_holds, false) then
      v_state := 'k';
      v_error := 'skipped: its run_if does not hold';
    end if;
  end if;
  if v_state is null and p_job.kind = 'request' and postrider_internal.job_is_templated(p_job) then
    perform postrider_internal.leave_to_judging(not postrider_internal.templates_are_cheap(p_job), v_is_cheap_only);
    if p_mode = 'judge' then
      begin
        select r.code, r.defect into v_code, v_error from postrider_internal.fill_templates(p_job) r;
      exception when query_canceled then
        v_error := postrider_internal.too_expensive('the templates');
        v_code := 'too_expensive';
      end;
    else
      select r.code, r.defect into v_code, v_error from postrider_internal.fill_templates(p_job, v_is_cheap_only) r;
    end if;
    v_state := case when v_code is not null then 'f' end;
  end if;
  if v_state is not null then
    if p_job.kind <> 'request' then
      select t.* into v_tree from postrider_internal.trees t
        where t.job_id = p_job.id and t.state = 'w' for no key update skip locked;
      if not found then
        -- Another transaction is cancelling it and may still roll back. The delta makes settle check again.
        insert into postrider_internal.tree_deltas (tree_id, run) select t.job_id, t.run from postrider_internal.trees t
          where t.job_id = p_job.id;
        return null;
      end if;
      return postrider_internal.close_tree(v_tree, v_state, v_code, v_error);
    end if;
    return case when not postrider_internal.store_job_end(p_job.id, v_state, v_code, v_error, p_tree.job_id,
                                                          v_has_callbacks) then v_state end;
  end if;

  if p_job.kind <> 'request' then
    return 'o';
  end if;
  select t.id into v_track from postrider_internal.tracks t
   where t.queue = p_job.queue and t.priority = p_job.priority
     and t.lane = postrider_internal.job_lane(coalesce(p_job.lane, p_job.service), p_job.url);
  select m.* into v_member from postrider_internal.members m where m.job_id = p_job.id;
  if v_run_at > now() then
    insert into postrider_internal.scheduled (
      run_at, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, has_callbacks)
    values (v_run_at, p_job.id, coalesce(v_track, 0), v_member.attempt, v_member.attempt + p_job.max_attempts,
            v_member.rekey,
            p_job.delivery = 'at_most_once', v_expires_at, p_tree.job_id, v_has_callbacks);
  else
    insert into postrider_internal.ready (
      seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, has_callbacks)
    values (nextval('postrider.jobs_id_seq'), p_job.id, coalesce(v_track, 0), v_member.attempt,
            v_member.attempt + p_job.max_attempts, v_member.rekey, p_job.delivery = 'at_most_once', v_expires_at,
            p_tree.job_id, v_has_callbacks);
  end if;
  return null;
end
$$;
comment on function postrider_internal.begin_member(
  postrider.jobs, postrider_internal.trees, postrider_internal.duty_mode) is
  'begins a member; returns its final state if it ended and the caller counts it, o for a batch or chain to open';
