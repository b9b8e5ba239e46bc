-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.resume_lane(lane text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.raise_null_argument('lane', resume_lane.lane is null,
    'Give the name of a lane; see select lane from postrider.lane_status.');
  delete from postrider_internal.throttled_lanes s where s.lane = resume_lane.lane;
  update postrider.lanes n set paused_until = null where n.name = resume_lane.lane and n.paused_until is not null;
  delete from postrider_internal.lane_pauses p where p.lane = resume_lane.lane;
end
$$;
comment on function postrider.resume_lane(text) is
  'ends the pause of a lane, by a user or an answer; the next 429 counts as the first of a series';
