-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Finds the tracks that hold a claimable row. It finds tracks that the worker does not know, and rows that were
-- committed late below its watermarks. It hops from track to track by the index (a loose scan).
--
-- A step makes at most p_limit hops, beginning at the first track behind p_after. Its cost grows with its hops, and
-- with the dead and leased rows before the first claimable row of each track. The worker stretches its interval to 50
-- times the duration.
--
-- If the tracks need several steps, each also visits two groups. One is 64 tracks of a priority above p_above. The
-- other is the newest 64 tracks that jobs waited for, among those added since p_newest. So a job of a high priority or
-- of a new track does not wait until all tracks have been visited.
--
-- An old transaction keeps the dead rows of a busy track, and a survey from its first row on would read all of them.
-- The worker therefore names its busy tracks in p_known. Of these a survey reads the rows behind p_floors, and of the
-- rows before them only one slice: those behind p_slice_after, up to p_slice_end. Between these tracks it hops as
-- usual.
--
-- If p_queues have at most 32 tracks, it visits only these. Hops would also lead to the tracks of other queues, and
-- read the dead rows at their start. An old transaction may keep millions of them.
--
-- has_more: a second row follows, so the worker returns only to tracks with more rows.
--
-- lane: the id of the track's lane if the lane has a limit, otherwise 0.
--
-- The row of track 0 says where the next step begins (first_seq; 0: the last track was visited). Its column lane is the
-- newest track.
create or replace function postrider_internal.survey(
  p_queues text[], p_after int default 0, p_limit int default 1000000, p_newest int default null,
  p_above int default null, p_known int[] default '{}', p_floors bigint[] default '{}',
  p_slice_after bigint default 0, p_slice_end bigint default 9223372036854775807)
returns table (track int, priority smallint, first_seq bigint, lane int, has_more boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own int[];
  v_hops boolean := true;
begin
  if p_queues is not null then
    v_own := array(select t.id from postrider_internal.tracks t where t.queue = any (p_queues) limit 33);
    if cardinality(v_own) <= 32 then
      v_hops := false;
      select array_agg(o.id), array_agg(coalesce(u.floor, 0)) into p_known, p_floors
        from unnest(v_own) o (id) left join unnest(p_known, p_floors) u (id, floor) on u.id = o.id;
    end if;
  end if;
  return query
  -- A hop that finds no row before the next known track goes to that track. If that track has no row either, seq is
  -- null.
  with recursive hops as (
    select p_after as id, null::int as next_id, null::bigint as seq, 0 as n
    union all
    select coalesce(f.ids[1], k.id), f.ids[2], f.seqs[1], h.n + 1
      from hops h
      left join lateral (
           select u.id, u.floor from unnest(p_known, p_floors) u (id, floor)
            where u.id > h.id order by u.id limit 1) k on true
     cross join lateral (
           select array_agg(x.track) as ids, array_agg(x.seq) as seqs
             from (select r.track, r.seq from postrider_internal.ready r
                    where v_hops and r.track > h.id and r.track <= coalesce(k.id - 1, 2147483647) and r.worker = 0
                    order by r.track, r.seq limit 2) x) g
     cross join lateral (
           select case when g.ids is not null then g.ids else array_agg(x.track) end as ids,
                  case when g.ids is not null then g.seqs else array_agg(x.seq order by x.seq) end as seqs
             from ((select r.track, r.seq from postrider_internal.ready r
                     where g.ids is null and r.track = k.id and r.seq > p_slice_after
                       and r.seq <= least(p_slice_end, k.floor) and r.worker = 0
                     order by r.track, r.seq limit 2)
                   union all
                   (select r.track, r.seq from postrider_internal.ready r
                     where g.ids is null and r.track = k.id and r.seq > k.floor and r.worker = 0
                     order by r.track, r.seq limit 2)) x) f
     where h.n < p_limit and (f.ids is not null or k.id is not null)),
  found as materialized (select h.id, h.next_id, h.seq, h.n from hops h where h.n > 0),
  reached as materialized (
    select coalesce((select f.id from found f where f.n = p_limit), 0) as id),
  others as (
    (select t.id from postrider_internal.tracks t
      where (select r.id > 0 or p_after > 0 from reached r) and t.priority > p_above
      order by t.priority desc, t.id desc limit 64)
    union
    (select t.id from postrider_internal.tracks t
      where (select r.id > 0 or p_after > 0 from reached r) and t.is_awaited and t.id > p_newest
      order by t.id desc limit 64)),
  seen as (
    select f.id, f.seq, f.next_id is not distinct from f.id as has_more from found f where f.seq is not null
    union all
    select o.id, f.seqs[1], f.seqs[2] is not null
      from others o
     cross join lateral (
           select array_agg(x.seq) as seqs
             from (select r.seq from postrider_internal.ready r where r.track = o.id and r.worker = 0
                   order by r.track, r.seq limit 2) x) f
     where f.seqs is not null and not exists (select from found x where x.id = o.id))
  select t.id, t.priority, s.seq, coalesce(n.id, 0), s.has_more
    from seen s
    join postrider_internal.tracks t on t.id = s.id
    left join postrider.lanes n on (select exists (select from postrider.lanes)) and n.name = t.lane
                               and (n.max_in_flight is not null or n.rate_limit is not null)
   where (p_queues is null or t.queue = any (p_queues))
     -- A survey asks once whether there is a pause. Only if there is one, it checks each track.
     and not case when (select exists (select from postrider.lanes n where n.paused_until > now()))
             then exists (select from postrider.lanes n where n.name = t.lane and n.paused_until > now()) else false end
     and not case when (select exists (select from postrider_internal.lane_pauses))
             then exists (select from postrider_internal.lane_pauses p where p.lane = t.lane and p.until > now())
               else false end
     and not case when (select exists (select from postrider.queues q where q.paused))
             then exists (select from postrider.queues q where q.name = t.queue and q.paused) else false end
  union all
  select 0, 0::smallint, r.id, coalesce((select t.id from postrider_internal.tracks t order by t.id desc limit 1), 0),
         null from reached r
   order by 2 desc, 1;
end
$$;
comment on function postrider_internal.survey(text[], int, int, int, int, int[], bigint[], bigint, bigint) is
  'unpaused tracks of the queues (null: all) with a claimable row; the row of track 0 says where to go on';
