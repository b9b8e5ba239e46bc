-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan
-- Skips lists that another transaction has locked. That transaction has cancelled jobs in the list, and the jobs of
-- other lists do not wait for it to end.
create or replace function postrider_internal.feed_lane(p_queue text, p_lane text, p_priority int) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_list record;
  v_fed bigint := 0;
begin
  for v_list in
    select i.id, array(select u.id from unnest(i.ids, i.queues, i.lanes) u (id, queue, lane)
                        where u.lane = p_lane and coalesce(i.queue, u.queue) = p_queue) as ids
      from postrider_internal.intake i
     where i.lane is null and i.bucket = any (postrider_internal.intake_buckets(p_queue, p_lane))
       and i.priority = p_priority
       and p_lane = any (i.lanes)
     order by i.id
       for update skip locked
  loop
    continue when v_list.ids = '{}';
    v_fed := v_fed + postrider_internal.take_from_intake(v_list.id, v_list.ids);
  end loop;
  return v_fed;
end
$$;
comment on function postrider_internal.feed_lane(text, text, int) is
  'moves the jobs of one track from intake lists of several lanes to ready and returns how many';
