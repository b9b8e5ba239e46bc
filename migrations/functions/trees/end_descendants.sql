-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Does not wait for rows that are being claimed, finished or cancelled at this moment. They remain, and so do jobs
-- beyond p_limit. Then the tree stays is_draining, and the next round finds them ended, or ends them. p_limit is there
-- because this may run in the transaction that finishes a step. Running calls end first, so that their transfers are
-- aborted early.
--
-- The batches and chains below stand in a list: first their members end from the top down, then their own ends are
-- stored from the bottom up. So the end of a job comes after the ends of all jobs below it.
create or replace function postrider_internal.end_descendants(p_tree postrider_internal.trees, p_state "char",
                                                              p_limit int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_trees postrider_internal.trees[] := array[p_tree];
  v_states "char"[] := array[p_state];     -- how each has ended
  v_parents int[] := '{0}';                -- place of the parent in the list
  v_rooms int[] := array[p_limit];         -- members that may end
  v_released int[] := '{}';
  v_ended int[] := '{}';
  v_failed int[] := '{}';
  v_tree postrider_internal.trees;
  v_below postrider_internal.trees;
  v_member_state "char";
  v_waiting record;
  v_room int;
  v_parent int;
  v_state "char";
  v_place int := 0;
begin
  while v_place < cardinality(v_trees) loop
    v_place := v_place + 1;
    v_tree := v_trees[v_place];
    v_member_state := case
      when v_states[v_place] = 'k' or v_tree.kind = 'c' and v_states[v_place] = 'f' then 'k' else 'c' end;
    if v_place > 1 then
      update postrider_internal.trees t set state = v_states[v_place], is_expanding = false
        where t.job_id = v_tree.job_id;
    end if;
    v_ended[v_place] := postrider_internal.end_released_members(v_tree.job_id, v_rooms[v_place]);
    select * into v_waiting from postrider_internal.end_waiting_members(
      v_tree.job_id, v_member_state, postrider_internal.swept_error(v_tree, v_member_state), v_rooms[v_place]);
    v_released[v_place] := v_waiting.released;
    v_failed[v_place] := v_ended[v_place] + case when v_member_state = 'k' then 0 else v_waiting.ended end;
    v_ended[v_place] := v_ended[v_place] + v_waiting.ended;

    v_room := v_rooms[v_place] - v_ended[v_place];
    for v_below in
      select t.* from postrider_internal.trees t
       where t.parent_id = v_tree.job_id and postrider_internal.is_open_tree(t.state)
         and not (select m.is_waiting from postrider_internal.members m where m.job_id = t.job_id)
         for update skip locked
    loop
      exit when v_room <= 0;
      v_trees := v_trees || v_below;
      v_states := v_states || case when v_below.state = 'w' then v_member_state else 'c' end;
      v_parents := v_parents || v_place;
      v_rooms := v_rooms || v_room;
      v_room := v_room - 1 - greatest(v_below.children - v_below.finished, 0);
    end loop;
  end loop;

  for i in reverse cardinality(v_trees) .. 1 loop
    v_tree := v_trees[i];
    update postrider_internal.trees t
       set is_draining = exists (
             select from postrider_internal.members m
              where m.parent_id = t.job_id
                and not exists (select from postrider_internal.results r where r.job_id = m.job_id offset 0)
                and not exists (select from postrider_internal.outcomes o where o.job_id = m.job_id offset 0)),
           released = t.released + v_released[i], finished = t.finished + v_ended[i], failed = t.failed + v_failed[i]
     where t.job_id = v_tree.job_id;
    exit when i = 1;
    v_parent := v_parents[i];
    v_state := postrider_internal.store_tree_end(
      v_tree, v_states[i], case when v_states[i] = 'c' then 'cancelled' end,
      postrider_internal.swept_error(v_trees[v_parent], v_states[i]));
    if v_state is null then
      -- It has callbacks or hooks, so conclude counts it.
      update postrider_internal.outcomes o set is_swept = true where o.job_id = v_tree.job_id;
    else
      v_ended[v_parent] := v_ended[v_parent] + 1;
      v_failed[v_parent] := v_failed[v_parent] + (v_state <> 'k')::int;
    end if;
  end loop;
  return v_ended[1];
end
$$;
comment on function postrider_internal.end_descendants(postrider_internal.trees, "char", int) is
  'ends the unfinished jobs below a tree that has ended with p_state: as skipped if they never began, or as cancelled';
