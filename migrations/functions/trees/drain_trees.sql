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
  v_below record;
  v_ended int := 0;
begin
  for v_tree in
    select t.* from postrider_internal.trees t where t.is_draining order by t.job_id for no key update skip locked
  loop
    begin
      select * into v_below from postrider_internal.end_descendants(v_tree.job_id, case
        when v_tree.state = 'k' or v_tree.kind = 'c' and v_tree.state = 'f' then 'k'
          else 'c' end::"char", p_limit - v_ended);
      update postrider_internal.trees t
         set is_draining = v_below.remaining, released = t.released + v_below.released,
           finished = t.finished + v_below.ended,
             failed = t.failed + v_below.failed
       where t.job_id = v_tree.job_id;
      v_ended := v_ended + v_below.ended;
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
