-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, no-bitmapscan
-- Reads the index alone. After the removal of millions of tracks the pages of the table stay, and the planner would
-- read all of them. Only a function can set this planner option for a view.
create or replace function postrider_internal.track_lanes() returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select distinct t.lane from postrider_internal.tracks t
$$;
comment on function postrider_internal.track_lanes() is 'the lanes of all tracks';
