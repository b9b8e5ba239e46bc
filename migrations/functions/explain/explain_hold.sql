-- SPDX-License-Identifier: Apache-2.0
-- Names all reasons that hold the job, so that a user does not end one pause only to find the next. The commands that
-- end the pauses come last. They say that the job then runs only if no other reason holds it.
--
-- p_idle: the text of explain_absence. p_at: when the job is due, null: now. A pause that ends before p_at does not
-- hold the job. p_track and p_seq: its place, null without a place.
create or replace function postrider_internal.explain_hold(
  p_queue text, p_lane text, p_idle text, p_at timestamptz, p_track int, p_seq bigint)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane postrider.lanes;
  v_limits text;
  v_holds text[] := '{}';
  v_ends text[] := '{}';
begin
  if exists (select from postrider.queues q where q.name = p_queue and q.paused) then
    v_holds := v_holds || format('its queue %s is paused', p_queue);
    v_ends := v_ends || format('postrider.resume_queue(%L)', p_queue);
  end if;
  select * into v_lane from postrider.lanes n where n.name = p_lane;
  select p_lane, p.until, p.reason into v_lane.name, v_lane.paused_until, v_lane.pause_reason
    from (select p.until, p.reason from postrider_internal.lane_pauses p where p.lane = p_lane
          union all select v_lane.paused_until, v_lane.pause_reason) p
   order by p.until desc nulls last limit 1;
  if v_lane.paused_until > greatest(now(), p_at) then
    v_holds := v_holds || format('its lane %s is paused %s (reason: %s)', p_lane,
      case when v_lane.paused_until = 'infinity' then 'until it is resumed'
           else 'until ' || to_char(v_lane.paused_until, 'YYYY-MM-DD HH24:MI:SS TZ') end, v_lane.pause_reason);
    v_ends := v_ends || format('postrider.resume_lane(%L)', p_lane);
  end if;
  v_limits := postrider_internal.explain_limits(v_lane, p_at, p_track, p_seq, v_ends <> '{}' or p_idle is not null);
  v_holds := v_holds || array_remove(array[p_idle, v_limits], null);
  return nullif(array_to_string(v_holds, '; and '), '')
    || case when v_ends = '{}' then ''
            else format('; select %s %s', array_to_string(v_ends, ', '),
              case when cardinality(v_holds) > cardinality(v_ends)
                     then case when cardinality(v_ends) = 1 then 'ends that pause' else 'ends these pauses' end
                   when p_at > now() then 'lets it run at its run_at'
                   else 'lets it run' end) end;
end
$$;
comment on function postrider_internal.explain_hold(text, text, text, timestamptz, int, bigint) is
  'the part of explain that says what holds a ready or scheduled job: queue, lane, no worker; null: nothing';
