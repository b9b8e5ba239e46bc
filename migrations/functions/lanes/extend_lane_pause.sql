-- SPDX-License-Identifier: Apache-2.0
-- Waits for the row of the lane as long as the caller's lock_timeout allows. If the lane exists, it uses UPDATE,
-- because each INSERT would take one of two billion ids for a 429.
--
-- The new reason may equal the old one. lanes_check would then think that a user changed only the time. The setting
-- is_asked_by_server prevents this.
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
  'pauses a lane as its server asked; a longer pause stays';
