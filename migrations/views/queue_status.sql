-- SPDX-License-Identifier: Apache-2.0
-- Looked at often, most of all while a backlog is large, so no part of it walks over the whole of one. 2,500 pages of ready and
-- of scheduled are counted: all of them up to about 100,000 rows; beyond, a random choice, from which the rest is reckoned.
-- Beside that, the first 10,000 rows of each track are counted then, and the first 10,000 that are scheduled: calls under way
-- are among the first, and a queue with few jobs stays exact beside one with millions. (Counting a million rows takes 0.3 s of
-- CPU, this 0.04 s however many there are.) Jobs whose track does not exist yet, track 0, are named by their own rows.
create or replace view postrider.queue_status as
with shares as (
  select least(1, 20480000.0 / greatest(pg_relation_size('postrider.ready'), 1)) as ready,
         least(1, 20480000.0 / greatest(pg_relation_size('postrider.scheduled'), 1)) as scheduled),
first_ready as (
  select t.id as track, f.ready, f.running, f.oldest, f.ready + f.running < 10000 as is_all, f.unnamed
    from (select k.id from postrider.tracks k union all select 0) t
   cross join lateral (
         select count(*) filter (where c.worker = 0) as ready, count(*) filter (where c.worker > 0) as running,
                min(c.since) filter (where c.worker = 0) as oldest, array_agg(c.job_id) filter (where t.id = 0) as unnamed
           from (select r.worker, r.since, r.job_id from postrider.ready r
                  where r.track = t.id order by r.track, r.seq limit 10000) c) f
   where (select s.ready < 1 from shares s) and f.ready + f.running > 0),
some_ready as (
  select r.track, count(*) filter (where r.worker = 0) as ready, count(*) filter (where r.worker > 0) as running,
         min(r.since) filter (where r.worker = 0) as oldest, (array_agg(r.job_id) filter (where r.track = 0))[:10000] as unnamed
    from postrider.ready r tablesample system ((select s.ready * 100 from shares s))
   group by r.track),
first_scheduled as (
  select c.track, count(*) as scheduled, array_agg(c.job_id) filter (where c.track = 0) as unnamed,
         sum(count(*)) over () < 10000 as is_all
    from (select s.track, s.job_id from postrider.scheduled s
           where (select h.scheduled < 1 from shares h) order by s.run_at, s.job_id limit 10000) c
   group by c.track),
some_scheduled as (
  select s.track, count(*) as scheduled, (array_agg(s.job_id) filter (where s.track = 0))[:10000] as unnamed
    from postrider.scheduled s tablesample system ((select h.scheduled * 100 from shares h))
   where not exists (select from first_scheduled f where f.is_all)
   group by s.track),
by_track as (
  select track, case when f.is_all then f.ready
                     else greatest(f.ready, (c.ready / (select s.ready from shares s))::bigint) end as ready,
         coalesce(f.running, c.running) as running, coalesce(f.oldest, c.oldest) as oldest, 0::bigint as scheduled,
         coalesce(f.unnamed, c.unnamed) as unnamed
    from some_ready c full join first_ready f using (track)
  union all
  select f.track, 0, 0, null, f.scheduled, f.unnamed from first_scheduled f where f.is_all
  union all
  select c.track, 0, 0, null, (c.scheduled / s.scheduled)::bigint, c.unnamed from some_scheduled c cross join shares s),
-- Members whose turn has not come have no row but in members; how many there are is known from the trees.
waits as (
  select j.queue, count(*) filter (where j.kind = 'request') as jobs, sum(count(*)) over () as seen
    from (select m.job_id
            from postrider.trees t
           cross join lateral (
                 select x.job_id from postrider.members x
                  where x.parent_id = t.job_id and x.position > t.reached and x.is_waiting order by x.position limit 10000) m
           where t.state in ('w', 'o') limit 10000) w
    join postrider.jobs j on j.id = w.job_id
   group by j.queue),
unfinished as (
  select t.queue, b.ready, b.running, b.oldest, b.scheduled, 0::numeric as waiting
    from by_track b join postrider.tracks t on t.id = b.track
  union all
  select n.queue, b.ready * n.share, b.running * n.share, b.oldest, b.scheduled * n.share, 0
    from by_track b
   cross join lateral (
         select j.queue, count(*)::numeric / cardinality(b.unnamed) as share
           from unnest(b.unnamed) u (id) join postrider.jobs j on j.id = u.id group by j.queue) n
   where b.track = 0
  union all
  select i.queue, i.jobs, 0, i.at, 0, 0 from postrider.intake i
  union all
  select w.queue, 0, 0, null, 0,
         case when w.seen < 10000 then w.jobs
              else w.jobs / w.seen * greatest(w.seen, (
                select sum(t.children - t.released) from postrider.trees t where t.state in ('w', 'o'))) end
    from waits w),
standing as (
  select u.queue, round(sum(u.ready))::bigint as ready, round(sum(u.running))::bigint as running, min(u.oldest) as oldest,
         round(sum(u.scheduled))::bigint as scheduled, round(sum(u.waiting))::bigint as waiting
    from unfinished u group by u.queue),
counted as (
  select c.queue, sum(c.jobs) filter (where c.state = 's') as succeeded, sum(c.jobs) filter (where c.state = 'f') as failed,
         sum(c.jobs) filter (where c.state = 'c') as cancelled, sum(c.jobs) filter (where c.state = 'e') as expired,
         sum(c.jobs) filter (where c.state = 'k') as skipped, sum(c.jobs) filter (where c.state = 'u') as unknown,
         sum(c.jobs) filter (where c.state not in ('r', 'h', 'p', 'n', 'w', 'o') and c.at >= now() - interval '1 minute') as last_minute
    from (select queue, state, jobs, minute as at from postrider.totals
          union all
          select coalesce(y.queue, t.queue, 'default'), s.state, s.jobs, y.at
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
       coalesce(p.paused, false) as paused,
       coalesce(s.waiting, 0) as waiting
  from (select queue from standing union select queue from counted union select name from postrider.queues) q
  left join standing s using (queue)
  left join counted c using (queue)
  left join postrider.queues p on p.name = q.queue;
comment on view postrider.queue_status is
  'public: one row for each queue: requests by state (batches and chains are counted by their members), exact up to about 100000 ready or scheduled ones and within a few percent beyond; age of the oldest ready one, rate of the last minute, time to drain at that rate, whether it is paused';
