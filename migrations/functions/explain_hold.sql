-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.explain_hold(p_queue text, p_lane text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane postrider.lanes;
begin
  if exists (select from postrider.queues q where q.name = p_queue and q.paused) then
    return format('its queue %s is paused; select postrider.resume_queue(%L) lets it run', p_queue, p_queue);
  end if;
  select * into v_lane from postrider.lanes n where n.name = p_lane;
  if v_lane.paused_until > now() then
    return format('its lane %s is paused %s, because of this: %s; select postrider.resume_lane(%L) lets it run at once', p_lane,
      case when v_lane.paused_until = 'infinity' then 'until somebody resumes it'
           else 'until ' || to_char(v_lane.paused_until, 'YYYY-MM-DD HH24:MI:SS TZ') end, v_lane.pause_reason, p_lane);
  end if;
  return null;
end
$$;
comment on function postrider.explain_hold(text, text) is
  'private: the part of explain that says what of its queue or lane keeps a ready job; null if nothing does';
