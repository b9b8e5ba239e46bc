-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- A request takes 20 µs. A member with templates or with own members takes a millisecond to half a second. So all
-- requests before the next such member are released together, and such a member alone.
create or replace function postrider_internal.count_plain_members(p_tree postrider_internal.trees,
                                                                  p_limit int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first int;
begin
  select n.position into v_first
    from (select m.job_id, m.position from postrider_internal.members m
           where m.parent_id = p_tree.job_id and m.position > p_tree.reached and m.is_waiting
           order by m.position limit p_limit) n
   cross join lateral (
         select from postrider.jobs j
          where j.id = n.job_id and (j.kind <> 'request' or postrider_internal.job_is_templated(j)) offset 0) j
   order by n.position
   limit 1;
  if v_first is null then
    return p_limit;
  end if;
  return greatest(1, (
    select count(*) from postrider_internal.members m
     where m.parent_id = p_tree.job_id and m.position > p_tree.reached and m.position < v_first and m.is_waiting));
end
$$;
comment on function postrider_internal.count_plain_members(postrider_internal.trees, int) is
  'how many of the next p_limit waiting members of a batch to release together, at least 1';
