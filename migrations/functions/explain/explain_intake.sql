-- SPDX-License-Identifier: Apache-2.0
-- A list does not hold the size of its INSERT, and rows after a large INSERT wait in lists too. Lists of one
-- transaction share one time. If too few of them are left to decide, the sentence names both cases.
create or replace function postrider_internal.explain_intake(p_list bigint, p_lane text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(
           case when sum(i.jobs) filter (where i.at = l.at) >= 10000
             then 'a large INSERT added it, and the leader is moving these jobs to lane %s'
                when bool_or(i.at <> l.at and i.first_id < l.first_id and i.priority = l.priority
                             and (i.lane = p_lane or p_lane = any (i.lanes)))
                  then 'it waits until the leader has moved the jobs of a large INSERT, and then enters lane %s'
                else 'it is part of a large INSERT or waits behind one, and the leader is moving it to lane %s' end, p_lane)
    from postrider_internal.intake l
   cross join postrider_internal.intake i
   where l.id = p_list
   group by l.id
$$;
comment on function postrider_internal.explain_intake(bigint, text) is
  'the part of explain that says why a job is in a list of intake';
