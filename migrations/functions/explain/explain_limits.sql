-- SPDX-License-Identifier: Apache-2.0
-- p_at: when the job is due, null: now. p_track and p_seq: its place, null without a place. p_is_held: another reason
-- holds it too, so its start is unknown.
create or replace function postrider_internal.explain_limits(
  p_lane postrider.lanes, p_at timestamptz, p_track int, p_seq bigint, p_is_held boolean)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before bigint;
  v_spacing interval;
  v_slot timestamptz;
  v_begin timestamptz;
  v_limits text[] := '{}';
  v_is_full boolean;
begin
  if p_lane.max_in_flight is null and p_lane.rate_limit is null then
    return null;
  end if;
  -- While a row waits for its track, the rows before it belong to all lanes.
  if p_track > 0 then
    v_before := postrider_internal.lane_jobs_before(p_track, p_seq);
  end if;
  v_is_full := coalesce(
    p_lane.max_in_flight <= (select sum(m.permits) from postrider_internal.lane_permits m where m.lane = p_lane.id),
    false);
  if v_is_full then
    v_limits := v_limits || format('its lane %s is at its limit of %s call(s) in flight (lanes.max_in_flight)',
                                   p_lane.name,
      p_lane.max_in_flight);
  end if;
  if p_lane.rate_limit is not null then
    -- Times up to last_slot are given away. The next one follows as in acquire_lane_permits.
    v_spacing := (p_lane.rate_period + least(p_lane.rate_period * 0.02, interval '100 ms')) / p_lane.rate_limit;
    v_slot := greatest(
      (select s.last_slot + v_spacing from postrider_internal.lane_rates s where s.lane = p_lane.id),
      clock_timestamp());
    v_begin := v_slot + coalesce(v_before, 0) * v_spacing;
    -- In a fast lane whose next call may begin now, the jobs wait for workers.
    if v_slot > greatest(clock_timestamp(), p_at) or v_begin > greatest(clock_timestamp(), p_at) + interval '1 s' then
      v_limits := v_limits || format('its lane %s is at its limit of %s call(s) in %s (lanes.rate_limit), and its next call begins at about %s%s',
        p_lane.name, p_lane.rate_limit, p_lane.rate_period, to_char(v_slot, 'YYYY-MM-DD HH24:MI:SS TZ'),
        case when p_is_held or v_is_full then ' at the earliest' end);
    else
      v_begin := null;
    end if;
  end if;
  if v_limits = '{}' or v_before is null then
    return nullif(array_to_string(v_limits, '; and '), '');
  end if;
  return format('%s; %s job(s) of the lane are before it%s', array_to_string(v_limits, '; and '),
    case when v_before > 10000 then 'over 10000' else v_before::text end,
    case when v_begin is not null and not p_is_held
           then format(', so this job begins at about %s%s', to_char(v_begin, 'YYYY-MM-DD HH24:MI:SS TZ'),
                  case when v_is_full or v_before > 10000 then ' at the earliest' end) end);
end
$$;
comment on function postrider_internal.explain_limits(postrider.lanes, timestamptz, int, bigint, boolean) is
  'the part of explain that says which limits of its lane hold a job and until when; null: none';
