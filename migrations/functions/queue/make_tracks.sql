-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- A new track and the move of its rows commit together. A row keeps its seq, so a track keeps the order in which its
-- rows were inserted.
--
-- A row inserted while this runs misses the move. The next round follows at once and moves it, and the later rows of
-- the track wait behind it until then. While the track is young, queue_new_jobs checks track 0 for such rows. A row
-- locked by another transaction is being cancelled. If it is not cancelled after all, a later round moves it.
--
-- If more rows wait than one step takes, some rows of a new track may wait longer than a second. In this case the track
-- counts as young for a minute.
--
-- If more than p_limit rows wait, the step reads the first 5 * p_limit. It moves the highest priority first, then the
-- lanes in turn.
create or replace function postrider_internal.make_tracks(p_worker int, p_epoch bigint, p_limit int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_mergejoin = off
as $$
declare
  v_moved int;
  v_seqs bigint[];
  v_has_more boolean;
begin
  if not exists (select from postrider_internal.ready r where r.track = 0)
    or not postrider_internal.leads(p_worker, p_epoch) then
    return 0;
  end if;
  v_has_more := exists (select from postrider_internal.ready r where r.track = 0
                        order by r.track, r.seq offset p_limit);
  v_seqs := array(
    select w.seq
      from (select r.seq, case when v_has_more then j.priority else 0 end as priority,
                   case when v_has_more
                     then row_number() over (partition by j.queue, j.priority, k.lane order by r.seq) else 0 end as turn
              from (select x.seq, x.job_id from postrider_internal.ready x where x.track = 0 order by x.track, x.seq
                     limit case when v_has_more then 5 * p_limit else p_limit end) r
              join postrider.jobs j on j.id = any (array[r.job_id])
             cross join lateral (
                   select postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) as lane offset 0) k) w
     order by w.priority desc, w.turn, w.seq
     limit p_limit);
  perform postrider_internal.add_tracks(
            array_agg(j.queue), array_agg(postrider_internal.job_lane(coalesce(j.lane, j.service), j.url)),
            array_agg(j.priority::int),
            case when v_has_more then interval '1 min' else interval '0' end)
     from postrider_internal.ready r join postrider.jobs j on j.id = any (array[r.job_id])
    where r.track = 0 and r.seq = any (v_seqs);
  with waiting as materialized (
    select r.ctid as spot, r.job_id
      from postrider_internal.ready r
     where r.track = 0 and r.worker = 0 and r.seq = any (v_seqs)
     order by r.track, r.seq
       for update skip locked),
  placed as (
    select w.spot, t.id as track
      from waiting w
      join postrider.jobs j on j.id = any (array[w.job_id])
      join postrider_internal.tracks t on t.queue = j.queue and t.priority = j.priority
                             and t.lane = postrider_internal.job_lane(coalesce(j.lane, j.service), j.url))
  update postrider_internal.ready r set track = p.track from placed p where r.ctid = p.spot;
  get diagnostics v_moved = row_count;
  return v_moved;
end
$$;
comment on function postrider_internal.make_tracks(int, bigint, int) is
  'leader: adds the tracks that up to p_limit rows of track 0 need, moves these rows there and returns how many';
