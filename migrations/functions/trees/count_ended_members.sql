-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- For a batch this writes a delta, because all its members share its row. A chain has only one step under way, so it is
-- settled here. So its next step is ready as soon as the step before is finished. If the chain ends, the next turn of
-- the loop counts it in its parent.
--
-- If settling the chains of one turn raises an error, the results of the finished calls are still stored. The chains
-- get deltas instead, and settle finds the cause. The same happens if the next step is a batch over a list, and an open
-- transaction is adding a member at the position of an element.
--
-- settle or the judging session begins a next step that is expensive. It also begins each step that comes after 100 ms
-- (begin_member, p_mode finish). No call's result waits there.
--
-- State x: the end of the batch or chain has ended this member. It counts as failed, but it is not the reason why the
-- tree failed. If it has no callback and no hook, end_descendants counts it.
create or replace function postrider_internal.count_ended_members(p_tree bigint[], p_job bigint[],
                                                                  p_state "char"[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_sum record;
  v_has_chains boolean;
  v_end postrider_internal.ended_member;
  v_trees bigint[];                        -- the parents of the chains that end in this turn
  v_jobs bigint[];
  v_states "char"[];
begin
  loop
    -- Looks up the row of each tree once, because hundreds of updates a second leave many dead versions of it.
    with counted as (
      select t.job_id, t.run, t.kind, e.finished, e.failed, e.succeeded, e.failed_job
        from (select m.tree, count(*) as finished,
              count(*) filter (where postrider_internal.is_failed_member(m.state) or m.state = 'x') as failed,
                     count(*) filter (where m.state = 's') as succeeded,
                     min(m.job) filter (where postrider_internal.is_failed_member(m.state)) as failed_job
                from unnest(p_tree, p_job, p_state) as m(tree, job, state)
               group by m.tree) e
       cross join lateral (
             select x.job_id, x.run, x.kind from postrider_internal.trees x where x.job_id = e.tree offset 0) t),
    batches as (
      insert into postrider_internal.tree_deltas (tree_id, run, finished, failed, succeeded, failed_job_id)
      select t.job_id, t.run, t.finished, t.failed, t.succeeded, t.failed_job from counted t where t.kind = 'b')
    select coalesce(bool_or(t.kind = 'c'), false) into v_has_chains from counted t;
    exit when not v_has_chains;
    v_trees := null;
    v_jobs := null;
    v_states := null;
    begin
      for v_sum in
        select t.job_id, t.run, m.job, m.state,
               (postrider_internal.is_failed_member(m.state) or m.state = 'x') as has_failed, m.state = 'x' as is_swept
          from unnest(p_tree, p_job, p_state) as m(tree, job, state)
         cross join lateral (select x.job_id, x.run, x.kind from postrider_internal.trees x
                             where x.job_id = m.tree offset 0) t
         where t.kind = 'c'
      loop
        v_end := postrider_internal.count_in_tree(
          v_sum.job_id, v_sum.run, 'finish', p_finished => 1, p_failed => v_sum.has_failed::int,
          p_succeeded => (v_sum.state = 's')::int,
          p_failed_job => case when v_sum.has_failed and not v_sum.is_swept then v_sum.job end);
        if v_end.tree_id is not null then
          v_trees := v_trees || v_end.tree_id;
          v_jobs := v_jobs || v_end.job_id;
          v_states := v_states || v_end.state;
        end if;
      end loop;
    exception when others then
      v_trees := null;
      insert into postrider_internal.tree_deltas (tree_id, run, finished, failed, succeeded, failed_job_id)
      select t.job_id, t.run, 1, (postrider_internal.is_failed_member(m.state) or m.state = 'x')::int,
             (m.state = 's')::int,
             case when postrider_internal.is_failed_member(m.state) then m.job end
        from unnest(p_tree, p_job, p_state) as m(tree, job, state)
       cross join lateral (select x.job_id, x.run, x.kind from postrider_internal.trees x
                           where x.job_id = m.tree offset 0) t
       where t.kind = 'c';
    end;
    exit when v_trees is null;
    p_tree := v_trees;
    p_job := v_jobs;
    p_state := v_states;
  end loop;
end
$$;
comment on function postrider_internal.count_ended_members(bigint[], bigint[], "char"[]) is
  'counts members that ended, and in which state, in their batches and chains';
