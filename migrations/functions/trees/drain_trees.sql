-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- Each tree has its own savepoint. If a tree meets a lock of an open transaction, it stays unchanged until the next
-- call. The others go on.
create or replace function postrider_internal.drain_trees(p_limit int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider_internal.trees;
  v_ended int := 0;
begin
  for v_tree in
    select t.* from postrider_internal.trees t where t.is_draining order by t.job_id for no key update skip locked
  loop
    begin
      v_ended := v_ended + postrider_internal.end_descendants(v_tree, v_tree.state, p_limit - v_ended);
    exception when lock_not_available then
      null;
    end;
    exit when v_ended >= p_limit;
  end loop;
  return v_ended;
end
$$;
comment on function postrider_internal.drain_trees(int) is
  'ends about p_limit members, or somewhat more, of batches and chains that have ended; returns how many';
