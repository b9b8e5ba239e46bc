-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Waits for the row of the batch or chain while it holds no other lock. Holders of that row are settle, a finish, or
-- the INSERT of a member. They never wait for another batch or chain, or they lock them in the order of their ids.
create or replace function postrider_internal.cancel_tree(p_id bigint,
                                                          p_actor text default null) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider_internal.trees;
begin
  select * into v_tree from postrider_internal.trees t where t.job_id = p_id for update;
  if not postrider_internal.is_open_tree(v_tree.state) then
    return false;
  end if;
  if not v_tree.is_counted then
    -- The same transaction inserted the tree and would count its members only at its end.
    perform postrider_internal.count_members(p_id);
  end if;
  update postrider_internal.members m set is_waiting = false where m.job_id = p_id and m.is_waiting;
  if found then
    insert into postrider_internal.tree_deltas (tree_id, run, released)
    select t.job_id, t.run, 1 from postrider_internal.trees t where t.job_id = v_tree.parent_id;
  end if;
  perform postrider_internal.end_tree(v_tree, 'c', 'cancelled',
                                      format('cancelled by %s', coalesce(p_actor, session_user)));
  return true;
end
$$;
comment on function postrider_internal.cancel_tree(bigint, text) is
  'cancels a batch or chain with all unfinished jobs below it; false if it had already ended';
