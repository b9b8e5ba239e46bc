-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- To any depth, but not below what a retry leaves alone: a batch that took its first success. An end that a worker is
-- just concluding is still one that waits.
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
  'whether below a batch or chain that has ended something has not, or its functions and notices are still to come';
