-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- The labels of a track's metrics. lane_group: the row of lanes with limits for this lane, or else the longest row with
-- an asterisk at its end that fits; null: none. Rows without limits do not count: a 429 inserts one for each lane.
create or replace function postrider_internal.track_labels(p_tracks int[])
returns table (track int, queue text, lane_group text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with patterns as materialized (
    select n.name, left(n.name, -1) as start from postrider.lanes n where right(n.name, 1) = '*')
  select k.id, k.queue, coalesce(
           (select n.name from postrider.lanes n
             where n.name = k.lane and (n.max_in_flight is not null or n.rate_limit is not null)),
           (select p.name from patterns p where starts_with(k.lane, p.start) order by length(p.name) desc limit 1))
    from postrider_internal.track_names k where k.id = any (p_tracks)
$$;
comment on function postrider_internal.track_labels(int[]) is
  'the queue of each track, and the row of lanes that limits its lane, for the metrics of workers';
