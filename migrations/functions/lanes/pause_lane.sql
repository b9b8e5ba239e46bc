-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.pause_lane(lane text, until timestamptz default 'infinity') returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.pause_lane_as(pause_lane.lane, pause_lane.until, session_user);
end
$$;
comment on function postrider.pause_lane(text, timestamptz) is
  'stops new calls of a lane until this time (default: until resume_lane); calls in flight continue';
