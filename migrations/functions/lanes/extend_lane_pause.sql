-- SPDX-License-Identifier: Apache-2.0
-- Waits for the row of the lane as long as the caller's lock_timeout allows. If the lane exists, it uses UPDATE,
-- because each INSERT would take one of two billion ids for a 429.
--
-- The new reason may equal the old one. lanes_check then forgets it, as if only the time had changed. Then it is set
-- again.
create or replace function postrider_internal.extend_lane_pause(p_lane text, p_until timestamptz,
                                                                p_reason text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
begin
  if exists (select from postrider.lanes n where n.name = p_lane) then
    update postrider.lanes n set paused_until = p_until, pause_reason = p_reason
     where n.name = p_lane and coalesce(n.paused_until, '-infinity') < p_until
    returning n.pause_reason into v_reason;
  else
    insert into postrider.lanes as n (name, paused_until, pause_reason) values (p_lane, p_until, p_reason)
        on conflict (name) do update set paused_until = excluded.paused_until, pause_reason = excluded.pause_reason
        where coalesce(n.paused_until, '-infinity') < excluded.paused_until
    returning n.pause_reason into v_reason;
  end if;
  if v_reason <> p_reason then
    update postrider.lanes n set pause_reason = p_reason where n.name = p_lane;
  end if;
end
$$;
comment on function postrider_internal.extend_lane_pause(text, timestamptz, text) is
  'pauses a lane as its server asked; a longer pause stays';
