-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.resume_lane(lane text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from postrider.lane_strains s where s.lane = resume_lane.lane;
  update postrider.lanes n set paused_until = null where n.name = resume_lane.lane and n.paused_until is not null
$$;
comment on function postrider.resume_lane(text) is
  'public: lets a paused lane run again, whoever paused it; a next 429 pauses it as if it were the first';
