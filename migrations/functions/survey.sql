-- SPDX-License-Identifier: Apache-2.0
-- Which tracks hold a row that could be claimed, wherever it lies: this finds tracks that a worker does not
-- know, and rows that were committed late and lie below its watermarks. It hops from track to track by the index
-- (a loose scan), so its cost is that of the tracks that hold rows, plus the dead and leased rows in front of
-- each first claimable one; the worker stretches its interval to 50 times the last survey's duration.
create or replace function postrider.survey(p_queues text[])
returns table (track int, priority smallint, first_seq bigint)
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
  select t.id, t.priority, f.seq
    from held h
    join postrider.tracks t on t.id = h.id
   cross join lateral (
         select r.seq from postrider.ready r
          where r.track = h.id and r.worker = 0
          order by r.track, r.seq limit 1) f
   where p_queues is null or t.queue = any (p_queues)
   order by t.priority desc, t.id;
end
$$;
comment on function postrider.survey(text[]) is
  'private: tracks of the queues given (null: all) that hold a claimable row, and its seq; highest priority first';
