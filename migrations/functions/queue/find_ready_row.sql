-- SPDX-License-Identifier: Apache-2.0
-- Finds the row of a job in ready without an index on job_id. The row is in one of three places. It may stand at its
-- first place (track, id), where the track may just have been removed. It may stand in track 0. Or it is among the
-- moved rows.
--
-- `offset 0`: if ready was last analyzed while it was empty, the planner would walk over all of ready_track for a seq
-- without its track.
create or replace function postrider_internal.find_ready_row(p_id bigint)
returns table (spot tid, track int, seq bigint, worker int, attempt int, since timestamptz, max_attempts int,
               fence bigint)
language sql stable
as $$
  (select r.spot, r.track, r.seq, r.worker, r.attempt, r.since, r.max_attempts, r.fence
     from postrider.jobs j
     join postrider_internal.tracks t on t.queue = j.queue
       and t.lane = postrider_internal.job_lane(coalesce(j.lane, j.service), j.url)
                            and t.priority = j.priority
    cross join lateral (
          select y.ctid as spot, y.track, y.seq, y.worker, y.attempt, y.since, y.max_attempts, y.fence
            from postrider_internal.ready y where y.track = t.id and y.seq = j.id and y.job_id = p_id offset 0) r
    where j.id = p_id)
  union all
  (select r.ctid, r.track, r.seq, r.worker, r.attempt, r.since, r.max_attempts, r.fence
     from postrider_internal.ready r where r.track = 0 and r.seq = p_id and r.job_id = p_id)
  union all
  (select r.spot, r.track, r.seq, r.worker, r.attempt, r.since, r.max_attempts, r.fence
     from postrider_internal.removed_tracks d
     join postrider.jobs j on j.id = p_id
    cross join lateral (
          select u.track from unnest(d.tracks, d.queues, d.lanes) u (track, queue, lane)
           where u.queue = j.queue and u.lane = postrider_internal.job_lane(coalesce(j.lane, j.service), j.url)) u
    cross join lateral (
          select y.ctid as spot, y.track, y.seq, y.worker, y.attempt, y.since, y.max_attempts, y.fence
            from postrider_internal.ready y where y.track = u.track and y.seq = j.id and y.job_id = p_id offset 0) r)
  union all
  (select r.ctid, r.track, r.seq, r.worker, r.attempt, r.since, r.max_attempts, r.fence
     from postrider_internal.ready r where r.job_id = p_id and r.seq <> r.job_id)
  limit 1
$$;
comment on function postrider_internal.find_ready_row(bigint) is 'returns the place of a job in ready, or no row';
