-- SPDX-License-Identifier: Apache-2.0
-- A list does not hold the size of its INSERT, and rows after a large INSERT wait in lists too. Lists of one
-- transaction share one time. If too few of them are left to decide, the sentence names both cases.
create or replace function postrider_internal.explain_intake(p_list bigint, p_lane text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(
           case when sum(i.jobs) filter (where i.at = l.at) >= 10000
             then 'it came in by a large INSERT that is being fed into lane %s'
                when bool_or(i.at <> l.at and i.first_id < l.first_id and i.priority = l.priority
                             and (i.lane = p_lane or p_lane = any (i.lanes)))
                  then 'it waits behind a large INSERT that is being fed, and comes into lane %s after that'
                else 'it came in with a large INSERT or behind one, and is being fed into lane %s' end, p_lane)
    from postrider_internal.intake l
   cross join postrider_internal.intake i
   where l.id = p_list
   group by l.id
$$;
comment on function postrider_internal.explain_intake(bigint, text) is
  'the part of explain that says why a job is in a list of intake';
