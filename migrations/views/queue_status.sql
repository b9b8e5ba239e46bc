-- SPDX-License-Identifier: Apache-2.0
-- Rows are counted by track first and named afterwards. Track 0 (its track does not exist yet) holds few rows, and for
-- milliseconds only while a worker runs.
create or replace view postrider.queue_status as
with by_track as (
  select r.track, count(*) filter (where r.worker = 0) as ready, count(*) filter (where r.worker > 0) as running,
         min(r.since) filter (where r.worker = 0) as oldest, 0::bigint as scheduled
    from postrider.ready r where r.track > 0 group by r.track
  union all
  select s.track, 0, 0, null, count(*) from postrider.scheduled s where s.track > 0 group by s.track),
waiting as (
  select t.queue, b.ready, b.running, b.oldest, b.scheduled from by_track b join postrider.tracks t on t.id = b.track
  union all
  select j.queue, 1, 0, r.since, 0 from postrider.ready r join postrider.jobs j on j.id = r.job_id where r.track = 0
  union all
  select j.queue, 0, 0, null, 1 from postrider.scheduled s join postrider.jobs j on j.id = s.job_id where s.track = 0
  union all
  select i.queue, cardinality(i.ids), 0, i.at, 0 from postrider.intake i),
standing as (
  select w.queue, sum(w.ready)::bigint as ready, sum(w.running)::bigint as running, min(w.oldest) as oldest,
         sum(w.scheduled)::bigint as scheduled
    from waiting w group by w.queue),
counted as (
  select c.queue, sum(c.jobs) filter (where c.state = 's') as succeeded, sum(c.jobs) filter (where c.state = 'f') as failed,
         sum(c.jobs) filter (where c.state = 'c') as cancelled, sum(c.jobs) filter (where c.state = 'e') as expired,
         sum(c.jobs) filter (where c.state = 'k') as skipped, sum(c.jobs) filter (where c.state = 'u') as unknown,
         sum(c.jobs) filter (where c.state not in ('r', 'h', 'p', 'n', 'w', 'o') and c.at >= now() - interval '1 minute') as last_minute
    from (select queue, state, jobs, minute as at from postrider.totals
          union all
          select coalesce(t.queue, 'default'), s.state, s.jobs, y.at
            from postrider.tallies y cross join lateral unnest(y.tracks, y.states, y.jobs) as s(track, state, jobs)
            left join postrider.tracks t on t.id = s.track) c
   group by c.queue)
select q.queue,
       coalesce(s.ready, 0) as ready, coalesce(s.scheduled, 0) as scheduled, coalesce(s.running, 0) as running,
       coalesce(c.succeeded, 0)::bigint as succeeded, coalesce(c.failed, 0)::bigint as failed,
       coalesce(c.cancelled, 0)::bigint as cancelled, coalesce(c.expired, 0)::bigint as expired,
       coalesce(c.skipped, 0)::bigint as skipped, coalesce(c.unknown, 0)::bigint as unknown,
       now() - s.oldest as oldest_ready_age,
       round(coalesce(c.last_minute, 0) / 60.0, 1) as rate_per_second,
       case when coalesce(s.ready, 0) = 0 then interval '0'
            when c.last_minute > 0 then make_interval(secs => s.ready * 60.0 / c.last_minute::numeric)
       end as estimated_drain,
       coalesce(p.paused, false) as paused
  from (select queue from standing union select queue from counted union select name from postrider.queues) q
  left join standing s using (queue)
  left join counted c using (queue)
  left join postrider.queues p on p.name = q.queue;
comment on view postrider.queue_status is
  'public: one row for each queue: jobs by state, age of the oldest ready one, rate of the last minute, time to drain at that rate, whether it is paused';
