-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, no-bitmapscan
-- By the index alone: after millions of tracks were removed, the pages of the table stay, and the planner would read
-- all of them. It is a function because only a function can set that for a view.
create or replace function postrider_internal.track_lanes() returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select distinct t.lane from postrider_internal.tracks t
$$;
comment on function postrider_internal.track_lanes() is 'the lanes of all tracks';
