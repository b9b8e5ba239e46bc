-- SPDX-License-Identifier: Apache-2.0
-- Waits for the row of the lane as long as its caller's lock_timeout allows.
create or replace function postrider.prolong_pause(p_lane text, p_until timestamptz, p_reason text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into postrider.lanes as n (name, paused_until, pause_reason) values (p_lane, p_until, p_reason)
      on conflict (name) do update set paused_until = excluded.paused_until, pause_reason = excluded.pause_reason
      where coalesce(n.paused_until, '-infinity') < excluded.paused_until;
end
$$;
comment on function postrider.prolong_pause(text, timestamptz, text) is
  'private: pauses a lane for what its server has asked; a pause that is longer stays';
