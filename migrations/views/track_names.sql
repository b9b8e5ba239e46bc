-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider_internal.track_names as
select t.id, t.queue, t.lane from postrider_internal.tracks t
 union all
select u.track, u.queue, u.lane
  from postrider_internal.removed_tracks d cross
    join lateral unnest(d.tracks, d.queues, d.lanes) u (track, queue, lane);
comment on view postrider_internal.track_names is 'queue and lane of each track, including recently removed tracks';
