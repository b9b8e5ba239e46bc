-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.cancel_tree(p_id bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_tree postrider.trees;
begin
  select * into v_tree from postrider.trees t where t.job_id = p_id for update;
  if v_tree.state not in ('w', 'o') then
    return false;
  end if;
  insert into postrider.tree_deltas (tree_id, released)
  select v_tree.parent_id, 1
   where exists (select from postrider.members m where m.job_id = p_id and m.is_waiting);
  update postrider.members m set is_waiting = false where m.job_id = p_id and m.is_waiting;
  perform postrider.end_tree(v_tree, 'c', 'cancelled', format('cancelled by %s', session_user));
  return true;
end
$$;
comment on function postrider.cancel_tree(bigint) is
  'private: ends a batch or chain and all that has not ended below it; false if it had ended';
