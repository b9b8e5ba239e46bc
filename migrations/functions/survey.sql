-- SPDX-License-Identifier: Apache-2.0
-- Which tracks hold a row that could be claimed, wherever it lies: this finds tracks that a worker does not
-- know, and rows that were committed late and lie below its watermarks. It hops from track to track by the index
-- (a loose scan), so its cost is that of the tracks that hold rows, plus the dead and leased rows in front of
-- each first claimable one; the worker stretches its interval to 50 times the last survey's duration.
create or replace function postrider.survey(p_queues text[])
returns table (track int, priority smallint, first_seq bigint, lane int)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return query
  with recursive held as (
    (select r.track as id from postrider.ready r order by r.track limit 1)
    union all
    select (select r.track from postrider.ready r where r.track > h.id order by r.track limit 1)
      from held h
     where h.id is not null)
  select t.id, t.priority, f.seq, coalesce(n.id, 0)
    from held h
    join postrider.tracks t on t.id = h.id
    left join postrider.lanes n on (select exists (select from postrider.lanes)) and n.name = t.lane
                               and (n.max_in_flight is not null or n.rate_limit is not null)
   cross join lateral (
         select r.seq from postrider.ready r
          where r.track = h.id and r.worker = 0
          order by r.track, r.seq limit 1) f
   where (p_queues is null or t.queue = any (p_queues))
     and not case when (select exists (select from postrider.lanes n where n.paused_until > now()))
             then exists (select from postrider.lanes n where n.name = t.lane and n.paused_until > now()) else false end
     and not case when (select exists (select from postrider.lane_pauses))
             then exists (select from postrider.lane_pauses p where p.lane = t.lane and p.until > now()) else false end
     and not case when (select exists (select from postrider.queues q where q.paused))
             then exists (select from postrider.queues q where q.name = t.queue and q.paused) else false end
   order by t.priority desc, t.id;
end
$$;
comment on function postrider.survey(text[]) is
  'private: tracks of the queues given (null: all) that hold a claimable row and are not paused, its seq, and the lane if it has limits (else 0); highest priority first';
