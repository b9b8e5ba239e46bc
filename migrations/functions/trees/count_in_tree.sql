-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Never waits for a lock. If the row is locked, it writes a delta for the next round. Counts of an earlier run are
-- dropped, because retry has counted the rows again. A member may join at the moment in which the tree ends (p_lowest:
-- its position). It is then ended with the other jobs below.
create or replace function postrider_internal.count_in_tree(
  p_tree bigint, p_run int, p_mode postrider_internal.duty_mode, p_added int default 0, p_lowest int default null,
  p_released int default 0, p_finished int default 0, p_failed int default 0, p_succeeded int default 0,
  p_failed_job bigint default null)
returns postrider_internal.ended_member
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  t postrider_internal.trees;
begin
  update postrider_internal.trees x
     set children = x.children + (x.run = p_run)::int * p_added,
         released = x.released + (x.run = p_run)::int * p_released,
         finished = x.finished + (x.run = p_run)::int * p_finished,
         failed = x.failed + (x.run = p_run)::int * p_failed,
         succeeded = x.succeeded + (x.run = p_run)::int * p_succeeded,
         failed_job_id = case when x.run <> p_run then x.failed_job_id
                              when x.failed + p_failed > 0 then coalesce(x.failed_job_id, p_failed_job) end,
         reached = least(x.reached, p_lowest - 1),
         is_draining = x.is_draining or p_lowest is not null and not postrider_internal.is_open_tree(x.state)
   where x.ctid = (select y.ctid from postrider_internal.trees y where y.job_id = p_tree for no key update skip locked)
  returning * into t;
  if not found then
    insert into postrider_internal.tree_deltas (tree_id, run, added, lowest, released, finished, failed, succeeded,
                                                failed_job_id)
    select p_tree, p_run, p_added, p_lowest, p_released, p_finished, p_failed, p_succeeded, p_failed_job
     where exists (select from postrider_internal.trees y where y.job_id = p_tree);
    return null;
  end if;
  if t.state <> 'w' then
    return postrider_internal.advance_tree(t, 'counted', p_mode);
  elsif t.parent_id is not null and exists (select from postrider_internal.members m
                                            where m.job_id = p_tree and not m.is_waiting) then
    return postrider_internal.begin_locked_tree(t, p_mode);
  end if;
  return null;
end
$$;
comment on function postrider_internal.count_in_tree(
  bigint, int, postrider_internal.duty_mode, int, int, int, int, int, int, bigint) is
  'adds counts to a batch or chain and lets it go on; returns its end if the caller counts that in its parent';
