-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans, no-seqscan, no-bitmapscan, nested-loops
-- lane_status counts the jobs of all tracks first, which takes most of its time. This function starts at the few lanes
-- that are paused, failing or limited, and only checks whether a limited lane has a ready job.
create or replace function postrider_internal.delayed_lanes()
returns table (lane text, state text, until timestamptz, why text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
with paused as (
  select p.lane, max(p.until) as until, (array_agg(p.reason order by p.until desc))[1] as reason
    from (select q.lane, q.until, q.reason from postrider_internal.lane_pauses q where q.until > now()
          union all
          select n.name, n.paused_until, n.pause_reason from postrider.lanes n where n.paused_until > now()) p
   group by p.lane),
failing as (
  select f.lane, postrider_internal.retry_rate(f.failing, f.calls, f.at, coalesce(n.retry_budget, 0.2), now()) as rate
    from postrider_internal.failing_lanes f left join postrider.lanes n on n.name = f.lane
   where f.failing and f.at > now() - interval '1 min'),
limited as (
  select n.name as lane, n.max_in_flight, n.rate_limit, n.rate_period, h.slot,
         n.max_in_flight <= (
           select sum(q.permits) from postrider_internal.lane_permits q where q.lane = n.id) as is_full
    from postrider.lanes n
    left join lateral (
         -- Computed as in lane_status.
         select q.last_slot + (n.rate_period + least(n.rate_period * 0.02, interval '100 ms')) / n.rate_limit as slot
           from postrider_internal.lane_rates q where q.lane = n.id and n.rate_limit is not null) h on true
   where (n.max_in_flight is not null or n.rate_limit is not null)
     and exists (
       select from postrider_internal.tracks t
        where t.lane = n.name and exists (
          select from postrider_internal.ready r where r.track = t.id and r.worker = 0)))
select p.lane, 'paused', p.until, p.reason from paused p
union all
select f.lane, 'failing', null,
       'most calls fail' || case when f.rate is null then ''
         else '; at most ' || round(f.rate::numeric, 1) || ' retries a second (lanes.retry_budget)' end
  from failing f where not exists (select from paused p where p.lane = f.lane)
union all
select l.lane, 'at limit', case when not l.is_full then l.slot end,
       case when l.is_full then 'at most ' || l.max_in_flight || ' calls at once (lanes.max_in_flight)'
         else 'at most ' || l.rate_limit || ' calls in ' || l.rate_period || ' (lanes.rate_limit)' end
  from limited l
 where (l.is_full or l.slot > now()) and not exists (select from paused p where p.lane = l.lane)
   and not exists (select from failing f where f.lane = l.lane)
 order by 2 desc, 1
$$;
comment on function postrider_internal.delayed_lanes() is
  'lanes that are paused, failing, or at a limit with ready jobs, and why';
