-- SPDX-License-Identifier: Apache-2.0
-- Waits for the row of the lane as long as its caller's lock_timeout allows. An INSERT for a lane that is there would
-- take one of two billion ids for each 429. The reason may be word for word that of the pause before, which lanes_check
-- would take for a person's change of the time alone.
create or replace function postrider_internal.extend_lane_pause(p_lane text, p_until timestamptz,
                                                                p_reason text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('postrider.is_asked_by_server', 'on', true);
  if exists (select from postrider.lanes n where n.name = p_lane) then
    update postrider.lanes n set paused_until = p_until, pause_reason = p_reason
     where n.name = p_lane and coalesce(n.paused_until, '-infinity') < p_until;
  else
    insert into postrider.lanes as n (name, paused_until, pause_reason) values (p_lane, p_until, p_reason)
        on conflict (name) do update set paused_until = excluded.paused_until, pause_reason = excluded.pause_reason
        where coalesce(n.paused_until, '-infinity') < excluded.paused_until;
  end if;
  perform set_config('postrider.is_asked_by_server', '', true);
end
$$;
comment on function postrider_internal.extend_lane_pause(text, timestamptz, text) is
  'pauses a lane for what its server has asked; a pause that is longer stays';
