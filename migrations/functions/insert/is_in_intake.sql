-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan
-- Jobs of a track start in the order in which they became runnable. So an INSERT queues behind the rows that its track
-- has in intake. The condition on -priority matches the index intake_turn.
create or replace function postrider_internal.is_in_intake(p_queue text, p_lane text, p_priority int) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from postrider_internal.intake i
              where i.lane is not null and -i.priority::int = -p_priority and i.queue = p_queue
                and i.lane = p_lane) then
    return true;
  end if;
  return exists (
    select from postrider_internal.intake i
     where i.lane is null and i.bucket = any (postrider_internal.intake_buckets(p_queue, p_lane))
       and i.priority = p_priority
       and (i.queue = p_queue and p_lane = any (i.lanes)
            or i.queue is null
               and exists (select from unnest(i.queues, i.lanes) u (queue, lane)
                           where u.queue = p_queue and u.lane = p_lane)));
end
$$;
comment on function postrider_internal.is_in_intake(text, text, int) is
  'whether a track (queue, lane, priority) has jobs in intake';
