-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan
-- Hops from lane to lane by the index intake_turn. It starts behind the given lane, goes to the end, and continues from
-- the first lane. p_level is the negated priority, as in the index.
create or replace function postrider_internal.intake_turns(
  p_level int, p_queue text, p_lane text, p_jobs bigint, out queues text[], out lanes text[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text := coalesce(p_queue, '');
  v_lane text := coalesce(p_lane, '');
  v_is_wrapped boolean := p_lane is null;
  v_jobs bigint := 0;
  v_next record;
begin
  while v_jobs < p_jobs and coalesce(cardinality(lanes), 0) < 200 loop
    select i.queue, i.lane, i.jobs into v_next from postrider_internal.intake i
     where i.lane is not null and -i.priority::int = p_level and (i.queue, i.lane) > (v_queue, v_lane)
     order by -i.priority::int, i.queue, i.lane, i.first_id, i.id limit 1;
    if not found then
      exit when v_is_wrapped;
      v_is_wrapped := true;
      v_queue := '';
      v_lane := '';
      continue;
    end if;
    exit when v_is_wrapped and v_next.queue = queues[1] and v_next.lane = lanes[1];
    queues := queues || v_next.queue;
    lanes := lanes || v_next.lane;
    v_jobs := v_jobs + v_next.jobs;
    v_queue := v_next.queue;
    v_lane := v_next.lane;
  end loop;
end
$$;
comment on function postrider_internal.intake_turns(int, text, text, bigint) is
  'the next lanes behind the given one that have own lists, up to 200, until their first lists hold p_jobs jobs';
