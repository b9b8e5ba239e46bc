-- SPDX-License-Identifier: Apache-2.0
-- Names all that holds the job: who ends one pause only to find the next asks twice.
create or replace function postrider.explain_hold(p_queue text, p_lane text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane postrider.lanes;
  v_slot timestamptz;
  v_holds text[] := '{}';
begin
  if exists (select from postrider.queues q where q.name = p_queue and q.paused) then
    v_holds := v_holds || format('its queue %s is paused; select postrider.resume_queue(%L) lets it run', p_queue, p_queue);
  end if;
  select * into v_lane from postrider.lanes n where n.name = p_lane;
  select p_lane, p.until, p.reason into v_lane.name, v_lane.paused_until, v_lane.pause_reason
    from (select p.until, p.reason from postrider.lane_pauses p where p.lane = p_lane
          union all select v_lane.paused_until, v_lane.pause_reason) p
   order by p.until desc nulls last limit 1;
  if v_lane.paused_until > now() then
    v_holds := v_holds || format(
      'its lane %s is paused %s, because of this: %s; select postrider.resume_lane(%L) lets it run at once', p_lane,
      case when v_lane.paused_until = 'infinity' then 'until somebody resumes it'
           else 'until ' || to_char(v_lane.paused_until, 'YYYY-MM-DD HH24:MI:SS TZ') end, v_lane.pause_reason, p_lane);
  end if;
  if v_lane.max_in_flight is not null and (
       select sum(m.permits) from postrider.lane_permits m where m.lane = v_lane.id) >= v_lane.max_in_flight then
    v_holds := v_holds || format('its lane %s is at its limit of %s call(s) under way at once (lanes.max_in_flight)', p_lane,
      v_lane.max_in_flight);
  end if;
  if v_lane.rate_limit is not null then
    -- Call times up to next_slot are given away; the one after it is as far off as draw says.
    select s.next_slot + (v_lane.rate_period + least(v_lane.rate_period * 0.02, interval '100 ms')) / v_lane.rate_limit into v_slot
      from postrider.lane_states s where s.lane = v_lane.id;
    if v_slot > clock_timestamp() then
      v_holds := v_holds || format('its lane %s is at its limit of %s call(s) in %s (lanes.rate_limit), and the next one begins at about %s',
        p_lane, v_lane.rate_limit, v_lane.rate_period, to_char(v_slot, 'YYYY-MM-DD HH24:MI:SS TZ'));
    end if;
  end if;
  return nullif(array_to_string(v_holds, '; and '), '');
end
$$;
comment on function postrider.explain_hold(text, text) is
  'private: the part of explain that says what of its queue and lane keeps a ready job; null if nothing does';
