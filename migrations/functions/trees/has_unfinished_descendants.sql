-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Checks to any depth, but not below a batch that ended with its first success, because a retry skips it. A job that a
-- worker is concluding at this moment still counts as unfinished.
create or replace function postrider_internal.has_unfinished_descendants(p_tree bigint) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    with recursive trees (job_id, is_draining, is_left_alone) as (
      select t.job_id, t.is_draining, t.state = 's' and t.mode = 'f' from postrider_internal.trees t
        where t.job_id = p_tree
      union all
      select n.job_id, n.is_draining, n.state = 's' and n.mode = 'f'
        from trees a cross join lateral (select t.* from postrider_internal.trees t
                                         where t.parent_id = a.job_id offset 0) n
       where not a.is_left_alone)
    select from trees a
     where not a.is_left_alone
       and (a.is_draining
            or exists (select from postrider_internal.members m
                        where m.parent_id = a.job_id
                          and exists (select from postrider_internal.outcomes o where o.job_id = m.job_id offset 0))));
end
$$;
comment on function postrider_internal.has_unfinished_descendants(bigint) is
  'whether an ended batch or chain has unfinished jobs below it, or pending callbacks, hooks or webhooks';
