-- SPDX-License-Identifier: Apache-2.0
-- after: track_names.sql
create or replace view postrider.lane_status as
with tracked as (
  select t.lane, sum(c.running)::bigint as in_flight, sum(c.ready)::bigint as ready, min(c.oldest) as oldest
    from postrider_internal.track_counts() c join postrider_internal.track_names t on t.id = c.track
   group by t.lane),
taken_in as (
  select u.lane, sum(u.jobs) as ready, min(u.at) as oldest
    from (select i.lane, i.jobs, i.at from postrider_internal.intake i where i.lane is not null
          union all
          select l.lane, 1, i.at from postrider_internal.intake i cross join lateral unnest(i.lanes) l (lane)
            where i.lane is null) u
   group by u.lane)
select l.lane, n.max_in_flight, n.rate_limit, case when n.rate_limit is not null then n.rate_period end as rate_period,
       coalesce(t.in_flight, 0) as in_flight, coalesce(t.ready, 0) + coalesce(i.ready, 0) as ready,
       now() - least(t.oldest, i.oldest) as oldest_ready_age,
       coalesce(p.until > now(), false) as paused,
       case when p.until > now() then p.until end as paused_until,
       case when p.until > now() then p.reason end as pause_reason,
       coalesce(n.retry_budget, 0.2) as retry_budget,
       coalesce(f.failing, false) as failing,
       round(f.rate::numeric, 1) as retry_rate,
       case when p.until > now() then 'pause'
            when coalesce(t.ready, 0) + coalesce(i.ready, 0) = 0 then null
            when n.max_in_flight <= greatest(t.in_flight, k.permits) then 'max_in_flight'
            when h.slot > now() or (coalesce(t.ready, 0) + coalesce(i.ready, 0)) * h.spacing > interval '1 s'
              then 'rate_limit'
       end as held_by,
       case when h.slot > now() then h.slot end as next_call_at
  from (select name as lane from postrider.lanes union select postrider_internal.track_lanes() union select lane
        from taken_in) l
  left join postrider.lanes n on n.name = l.lane
  left join lateral (
       select q.until, q.reason from postrider_internal.lane_pauses q where q.lane = l.lane
       union all select n.paused_until, n.pause_reason
       order by until desc nulls last limit 1) p on true
  left join tracked t on t.lane = l.lane
  left join taken_in i on i.lane = l.lane
  left join lateral (
       select q.failing and q.at > now() - interval '1 min' as failing,
              postrider_internal.retry_rate(q.failing, q.calls, q.at, coalesce(n.retry_budget, 0.2), now()) as rate
         from postrider_internal.failing_lanes q where q.lane = l.lane) f on true
  left join lateral (
       select sum(q.permits) as permits from postrider_internal.lane_permits q
         where q.lane = n.id and n.max_in_flight is not null) k on true
  left join lateral (
       select q.last_slot + w.spacing as slot, w.spacing
         from postrider_internal.lane_rates q
        -- Computed as in acquire_lane_permits and explain_limits.
        cross join (select (n.rate_period + least(n.rate_period * 0.02, interval '100 ms')) / n.rate_limit as spacing) w
        where q.lane = n.id and n.rate_limit is not null) h on true;
comment on view postrider.lane_status is
  'one row for each lane: limits, calls, pause and retries; above about 100000 jobs in all, ready is an estimate';
comment on column postrider.lane_status.lane is
  'name of the lane: jobs.lane, otherwise the service, otherwise host:port of the URL';
comment on column postrider.lane_status.max_in_flight is 'most calls in flight in the whole fleet; null: no limit';
comment on column postrider.lane_status.rate_limit is
  'most calls that begin within any rate_period in the whole fleet; null: no limit';
comment on column postrider.lane_status.rate_period is 'period of rate_limit; null without rate_limit';
comment on column postrider.lane_status.in_flight is 'calls in flight';
comment on column postrider.lane_status.ready is 'requests that could run now and wait for a free slot';
comment on column postrider.lane_status.oldest_ready_age is
  'waiting time of the oldest ready request; null: no ready request';
comment on column postrider.lane_status.paused is
  'true: no call may begin now, because of pause_lane, a 429 or a Retry-After';
comment on column postrider.lane_status.paused_until is
  'when the pause ends; infinity: until resume_lane; null: not paused';
comment on column postrider.lane_status.pause_reason is 'user or answer that paused the lane';
comment on column postrider.lane_status.retry_budget is 'largest share of retries while most calls fail';
comment on column postrider.lane_status.failing is 'true: most calls of the last seconds failed';
comment on column postrider.lane_status.retry_rate is
  'allowed retries a second while the lane is failing; null: no limit';
comment on column postrider.lane_status.held_by is
  'why the lane delays ready jobs: pause (also without ready jobs), max_in_flight or rate_limit; null: no delay';
comment on column postrider.lane_status.next_call_at is 'with rate_limit: when the next call may begin; null: now';
