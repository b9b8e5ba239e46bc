-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Replaces promote while a lane is failing. Retries of that lane get slots in time, 1 / retry_rate apart. The lane may
-- catch up on slots of the last second. A retry whose slot lies ahead is rescheduled to it. The slot is reserved
-- (has_slot), so the retry is not checked again.
--
-- Slots are given at most 5 s ahead, because their rate follows the present calls. A retry without a slot is
-- rescheduled for another check. These checks are spread at 500 rows a second. So a short backlog is checked within
-- seconds, and a long one costs at most that many updates.
--
-- Two kinds of rows are never held: first attempts, and rows that wait for the cache or a credential. Other tables rely
-- on the run_at of the latter.
--
-- The query compares due rows with failing_lanes track by track, not row by row. While a transaction stays open for
-- hours, the rows of failing_lanes lie behind their dead versions.
--
-- Only the leader writes failing_lanes, one statement after the other. When a leader loses its lease, the next one may
-- give the same slots once more.
create or replace function postrider_internal.promote_by_budget(
  p_worker int, p_epoch bigint, p_since timestamptz, p_limit int, out moved int, out latest timestamptz,
  out more boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with due as materialized (
    select s.ctid as spot, s.run_at, s.job_id, s.track, s.attempt > 0 and not s.has_slot as is_retry
      from postrider_internal.scheduled s
     where s.run_at <= now() and s.run_at >= coalesce(p_since, '-infinity')
       and postrider_internal.leads(p_worker, p_epoch)
     order by s.run_at, s.job_id
     limit p_limit
       for update skip locked),
  grouped as materialized (
    select d.track, d.is_retry, array_agg(d.spot) as spots, array_agg(d.run_at) as times, array_agg(d.job_id) as jobs
      from due d
     group by d.track, d.is_retry),
  laned as materialized (
    select g.*, r.lane, r.last_slot, r.last_check, r.rate
      from grouped g
      left join lateral (
           select q.lane, q.last_slot, q.last_check, v.rate
             from postrider_internal.tracks t
             join postrider_internal.failing_lanes q on q.lane = t.lane and q.failing
             left join postrider.lanes n on n.name = q.lane
            cross join lateral (
                  select postrider_internal.retry_rate(q.failing, q.calls, q.at, coalesce(n.retry_budget, 0.2),
                                                       now()) as rate) v
            where t.id = g.track and g.is_retry and v.rate is not null) r on true),
  looked_at as materialized (
    select d.*, l.last_slot, l.last_check, l.rate,
           case when l.lane is not null
                 and not exists (select from postrider_internal.cache_waits w
                                 where w.job_id = d.job_id and w.run_at = d.run_at)
                 and not exists (select from postrider_internal.credential_waits w
                                 where w.job_id = d.job_id and w.run_at = d.run_at)
                then l.lane end as lane
      from laned l cross join lateral unnest(l.spots, l.times, l.jobs) as d(spot, run_at, job_id)),
  slotted as materialized (
    select l.*,
           greatest(l.last_slot, now() - interval '1 s')
             + row_number() over (partition by l.lane order by l.run_at, l.job_id) / l.rate * interval '1 s' as slot
      from looked_at l),
  placed as materialized (
    select s.spot, s.lane, s.slot,
           case when s.slot > now() + interval '5 s' then least(now() + interval '15 min',
             greatest(s.last_check, now() + interval '5 s')
               + row_number() over (partition by s.lane, s.slot > now() + interval '5 s'
                                    order by s.run_at, s.job_id) * interval '2 ms') end as check_at
      from slotted s
     where s.lane is not null),
  pushed as (
    update postrider_internal.scheduled s
       set run_at = coalesce(p.check_at, p.slot), has_slot = p.check_at is null
      from placed p
     where s.ctid = p.spot and p.slot > now()),
  noted as (
    update postrider_internal.failing_lanes q
       set last_slot = greatest(q.last_slot, g.slot), last_check = greatest(q.last_check, g.check_at)
      from (select p.lane, max(p.slot) filter (where p.check_at is null) as slot, max(p.check_at) as check_at
              from placed p group by p.lane) g
     where q.lane = g.lane),
  gone as (
    delete from postrider_internal.scheduled s using slotted d
      where s.ctid = d.spot and (d.lane is null or d.slot <= now()) returning s.*),
  freed as (
    insert into postrider_internal.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at,
                                          parent_id, has_callbacks)
    select nextval('postrider.jobs_id_seq'), g.job_id, g.track, g.attempt, g.max_attempts, g.rekey, g.at_most_once,
           g.expires_at, g.parent_id, g.has_callbacks
      from (select * from gone order by run_at, job_id) g)
  select (select count(*) from gone), max(d.run_at), count(*) = p_limit into moved, latest, more from due d;
end
$$;
comment on function postrider_internal.promote_by_budget(int, bigint, timestamptz, int) is
  'promote while a lane is failing: it delays retries of that lane to keep its retry budget';
