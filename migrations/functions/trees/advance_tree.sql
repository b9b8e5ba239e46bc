-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Carries out what next_tree_action decides: for this batch or chain, then for batches and chains below that begin.
-- They stand in a list, and the last one is next. So all members of a first member begin before the second member.
--
-- The caller holds the lock on the row of p_tree and has read it, or gives a tree that waits as due. Locks of the trees
-- below are taken with SKIP LOCKED.
create or replace function postrider_internal.advance_tree(
  p_tree postrider_internal.trees, p_finding postrider_internal.tree_finding, p_mode postrider_internal.duty_mode)
returns postrider_internal.ended_member
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  t postrider_internal.trees := p_tree;
  v_finding postrider_internal.tree_finding := p_finding;
  v_waiting postrider_internal.waiting_members := postrider_internal.waiting_by_counts(t);
  v_action postrider_internal.tree_action;
  v_tasks postrider_internal.tree_task[] := '{}';
  v_task postrider_internal.tree_task;
  v_round record;
  v_opened record;
  v_code text;
  v_error text;
  v_is_expensive boolean := p_mode = 'judge';
  v_end "char";
  -- On the judging session each expensive step gets its own statement.
  v_longest constant interval := case when p_mode = 'judge' then interval '20 ms' else interval '1 s' end;
begin
  loop
    v_action := postrider_internal.next_tree_action(t, v_finding, v_waiting);
    if v_action = 'release' then
      select * into v_round from postrider_internal.release_members(t, postrider_internal.tree_room(t), p_mode);
      v_waiting := v_round.waiting;
      continue when v_round.released = 0;
      update postrider_internal.trees x
         set released = x.released + v_round.released, finished = x.finished + v_round.finished,
             failed = x.failed + v_round.failed, succeeded = x.succeeded + v_round.succeeded,
             failed_job_id = coalesce(x.failed_job_id, v_round.failed_job), reached = v_round.reached
       where x.job_id = t.job_id
      returning * into t;
      if v_round.due_trees is null then
        if v_round.released = 10000 or clock_timestamp() > statement_timestamp() + v_longest then
          v_finding := 'postponed';
        end if;
        continue;
      end if;
      v_tasks := v_tasks || row(t.job_id, 'counted')::postrider_internal.tree_task || v_round.due_trees;
    elsif v_action = 'begin' then
      select * into v_opened from postrider_internal.open_tree(t.job_id, p_mode);
      t := v_opened.tree;
      v_finding := v_opened.finding;
      v_waiting := postrider_internal.waiting_by_counts(t);
      v_code := v_opened.code;
      v_error := v_opened.error;
      v_is_expensive := v_opened.is_expensive;
      continue;
    elsif v_action = 'lock_row' then
      perform from postrider_internal.trees x where x.job_id = t.job_id for update skip locked;
      if found then
        -- Finds members that joined meanwhile, at any position. The delta that counts them may not have arrived yet.
        select min(m.position) - 1 into t.reached from postrider_internal.members m
          where m.parent_id = t.job_id and m.is_waiting;
        v_waiting := case when t.reached is null then 'none' else 'expected' end;
      else
        v_finding := 'postponed';
      end if;
      continue;
    elsif v_action = 'check_expiry' then
      v_finding := case when postrider_internal.tree_has_expired(t) then 'expired' else 'not_expired' end;
      continue;
    elsif v_action = 'continue_later' then
      insert into postrider_internal.tree_deltas (tree_id, run, is_expensive)
      values (t.job_id, t.run, v_is_expensive and v_waiting <> 'locked');
    elsif v_action <> 'wait' then
      v_end := postrider_internal.close_tree(
        t, case v_action when 'succeed' then 's' when 'expire' then 'e' else 'f' end::"char",
        case v_action when 'expire' then 'expired' when 'succeed' then null else coalesce(v_code, 'child_failed') end,
        case v_action when 'expire' then 'not started before expires_at' when 'fail' then v_error
          when 'fail_without_success' then 'no member has succeeded' end,
        case when v_waiting = 'none' then 0 else 500 end);  -- 0: all jobs below have ended
    end if;

    if v_tasks = '{}' then
      return case when v_end is not null and t.parent_id is not null
        then row(t.parent_id, t.job_id, v_end)::postrider_internal.ended_member end;
    end if;
    if v_end is not null then
      -- The parent stands further up in the list.
      update postrider_internal.trees x
         set finished = x.finished + 1, succeeded = x.succeeded + (v_end = 's')::int,
             failed = x.failed + postrider_internal.is_failed_member(v_end)::int,
             failed_job_id = coalesce(
               x.failed_job_id, case when postrider_internal.is_failed_member(v_end) then t.job_id end)
       where x.job_id = t.parent_id;
    end if;
    v_task := v_tasks[cardinality(v_tasks)];
    v_tasks := trim_array(v_tasks, 1);
    v_finding := v_task.finding;
    v_end := null;
    v_code := null;
    v_error := null;
    v_is_expensive := p_mode = 'judge';
    if v_finding = 'due' then
      t := null;
      t.job_id := v_task.tree_id;
      t.state := 'w';
    else
      select * into t from postrider_internal.trees x where x.job_id = v_task.tree_id;
      v_waiting := postrider_internal.waiting_by_counts(t);
      if clock_timestamp() > statement_timestamp() + v_longest then
        v_finding := 'postponed';
      end if;
    end if;
  end loop;
end
$$;
comment on function postrider_internal.advance_tree(
  postrider_internal.trees, postrider_internal.tree_finding, postrider_internal.duty_mode) is
  'releases members of a batch or chain or ends it, and those below that begin; returns the end that the caller counts';
