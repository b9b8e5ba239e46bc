-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, no-bitmapscan, nested-loops
-- For a worker whose finish has waited for a lock. One statement checks all its rows, because a finish of each row
-- alone would wait for each lock. A row that changed since the statement began also counts as locked; the worker asks
-- again.
create or replace function postrider_internal.locked_leases(p_worker int, p_track int[], p_seq bigint[],
                                                            p_fence bigint[]) returns bigint[]
language sql
set search_path = pg_catalog, pg_temp
as $$
  with x as materialized (
    select * from unnest(p_track, p_seq, p_fence) as x(track, seq, fence)),
  free as materialized (
    select x.seq
      from (select x.* from x order by x.track, x.seq) x
     cross join lateral (
           select from postrider_internal.ready r
            where r.track = x.track and r.seq = x.seq and r.fence = x.fence
              and r.worker = p_worker for update skip locked) r)
  select coalesce(array_agg(x.seq), '{}')
    from x
   cross join lateral (
         select from postrider_internal.ready r
          where r.track = x.track and r.seq = x.seq and r.fence = x.fence and r.worker = p_worker offset 0) r
   where x.seq not in (select f.seq from free f)
$$;
comment on function postrider_internal.locked_leases(int, int[], bigint[], bigint[]) is
  'the seq of each given lease that still holds and whose row another transaction has locked';
