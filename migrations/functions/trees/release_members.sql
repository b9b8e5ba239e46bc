-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Releases the next members in line, at most p_limit. A chain releases one at a time and never passes a locked member.
-- A single member has its own branch, which costs a third. It runs in the transaction that finishes the step before.
--
-- due_trees: released batches and chains, in the order of a list whose last entry is next. The caller begins them.
create or replace function postrider_internal.release_members(
  p_tree postrider_internal.trees, p_limit int, p_mode postrider_internal.duty_mode, out released int,
  out finished int, out failed int, out succeeded int, out failed_job bigint, out reached int,
  out waiting postrider_internal.waiting_members, out due_trees postrider_internal.tree_task[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit int := p_limit;
  v_id bigint;
  v_ids bigint[];
  v_is_blocked boolean;
  v_job postrider.jobs;
  v_end "char";
begin
  released := 0;
  finished := 0;
  failed := 0;
  succeeded := 0;
  if p_tree.kind = 'b' and v_limit > 1 then
    v_limit := postrider_internal.count_plain_members(p_tree, v_limit);
  end if;
  if v_limit = 1 then
    update postrider_internal.members m set is_waiting = false
     where m.ctid = (
           select x.ctid
             from (select y.ctid as spot from postrider_internal.members y
                    where y.parent_id = p_tree.job_id and y.position > p_tree.reached and y.is_waiting
                    order by y.position limit 1) n
             join postrider_internal.members x on x.ctid = n.spot
            where x.is_waiting
              for update of x skip locked)
    returning m.job_id, m.position into v_id, reached;
    if not found then
      waiting := case when exists (
                        select from postrider_internal.members m
                         where m.parent_id = p_tree.job_id and m.position > p_tree.reached and m.is_waiting)
        then 'locked' else 'unlikely' end;
      return;
    end if;
    if p_tree.kind = 'c' and exists (
         select from postrider_internal.members m
          where m.parent_id = p_tree.job_id and m.position > p_tree.reached and m.position < release_members.reached
            and not m.is_waiting
            and (exists (select from postrider_internal.results r
                         where r.job_id = m.job_id and postrider_internal.is_failed_member(r.state) offset 0)
                 or exists (select from postrider_internal.outcomes o
                            where o.job_id = m.job_id and postrider_internal.is_failed_member(o.state) offset 0)))
    then
      -- The earlier step was cancelled while it waited, and its delta has not been counted yet. The chain must not pass
      -- it.
      update postrider_internal.members m set is_waiting = true where m.job_id = v_id;
      reached := p_tree.reached;
      waiting := 'locked';
      return;
    end if;
    released := 1;
    waiting := 'expected';
    v_ids := array[v_id];
  else
    select m.ids, m.released, m.reached, m.is_blocked into v_ids, released, reached, v_is_blocked
      from postrider_internal.release_plain_members(p_tree, v_limit) m;
    waiting := case when v_is_blocked and released = 0 then 'locked'
                    when v_is_blocked or released >= v_limit then 'expected' else 'unlikely' end;
    if released = 0 then
      return;
    end if;
  end if;

  foreach v_id in array coalesce(v_ids, '{}') loop
    select * into v_job from postrider.jobs j where j.id = v_id;
    v_end := postrider_internal.begin_member(v_job, p_tree, p_mode);
    if v_end = 'o' then
      due_trees := row(v_id, 'due')::postrider_internal.tree_task || due_trees;
    elsif v_end is not null then
      finished := finished + 1;
      succeeded := succeeded + (v_end = 's')::int;
      if postrider_internal.is_failed_member(v_end) then
        failed := failed + 1;
        failed_job := coalesce(failed_job, v_id);
      end if;
    end if;
  end loop;
  perform postrider_internal.notify_idle_workers();
end
$$;
comment on function postrider_internal.release_members(
  postrider_internal.trees, int, postrider_internal.duty_mode) is
  'makes up to p_limit waiting members ready; returns their counts and the batches and chains that must begin';
