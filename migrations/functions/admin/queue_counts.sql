-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- For queue_status. track_counts counts ready and running jobs. Scheduled jobs are counted here: all rows, if they take
-- at most 1,000 pages or are fewer than 10,000. Otherwise 500 random pages are counted, and `share` scales them up.
-- The track names the queue. Jobs without a track yet (track 0, `unnamed`) are looked up in jobs.
create or replace function postrider_internal.queue_counts()
returns table (queue text, ready bigint, running bigint, oldest timestamptz, scheduled bigint, waiting bigint)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
with size as (
  select case when p.pages <= 1000 then 1 else 500.0 / p.pages end as share
    from (select pg_relation_size('postrider_internal.scheduled') / current_setting('block_size')::int as pages) p),
first_scheduled as (
  select c.track, count(*) as scheduled, array_agg(c.job_id) filter (where c.track = 0) as unnamed,
         sum(count(*)) over () < 10000 as is_all
    from (select s.track, s.job_id from postrider_internal.scheduled s
           where (select h.share < 1 from size h) order by s.run_at, s.job_id limit 10000) c
   group by c.track),
some_scheduled as (
  select s.track, count(*) as scheduled, (array_agg(s.job_id) filter (where s.track = 0))[:3000] as unnamed
    from postrider_internal.scheduled s tablesample system ((select h.share * 100 from size h))
   where not exists (select from first_scheduled f where f.is_all)
   group by s.track),
by_track as (
  select c.track, c.ready, c.running, c.oldest, 0::bigint as scheduled, c.unnamed
    from postrider_internal.track_counts() c
  union all
  select f.track, 0, 0, null, f.scheduled, f.unnamed from first_scheduled f where f.is_all
  union all
  select c.track, 0, 0, null, (c.scheduled / s.share)::bigint, c.unnamed from some_scheduled c cross join size s),
-- Members whose turn has not come are only in members. The trees hold their number, and the queues of the first 2,000
-- stand for all.
waits as (
  select j.queue, count(*) filter (where j.kind = 'request') as jobs, sum(count(*)) over () as seen
    from (select m.job_id
            from postrider_internal.trees t
           cross join lateral (
                 select x.job_id from postrider_internal.members x
                  where x.parent_id = t.job_id and x.position > t.reached and x.is_waiting
                    order by x.position limit 2000) m
           where postrider_internal.is_open_tree(t.state) limit 2000) w
    join postrider.jobs j on j.id = w.job_id
   group by j.queue),
unfinished as (
  select t.queue, b.ready, b.running, b.oldest, b.scheduled, 0::numeric as waiting
    from by_track b join postrider_internal.track_names t on t.id = b.track
  union all
  select n.queue, b.ready * n.share, b.running * n.share, b.oldest, b.scheduled * n.share, 0
    from by_track b
   cross join lateral (
         select j.queue, count(*)::numeric / cardinality(b.unnamed) as share
           from unnest(b.unnamed) u (id) join postrider.jobs j on j.id = u.id group by j.queue) n
   where b.track = 0
  union all
  select i.queue, i.jobs, 0, i.at, 0, 0 from postrider_internal.intake i where i.queue is not null
  union all
  select u.queue, count(*), 0, min(i.at), 0, 0
    from postrider_internal.intake i cross join lateral unnest(i.queues) u (queue) where i.queue is null
      group by u.queue
  union all
  select w.queue, 0, 0, null, 0,
         case when w.seen < 2000 then w.jobs
              else w.jobs / w.seen * greatest(w.seen, (
                select sum(t.children - t.released) from postrider_internal.trees t
                  where postrider_internal.is_open_tree(t.state))) end
    from waits w)
select u.queue, round(sum(u.ready))::bigint, round(sum(u.running))::bigint, min(u.oldest),
       round(sum(u.scheduled))::bigint,
       round(sum(u.waiting))::bigint
  from unfinished u group by u.queue
$$;
comment on function postrider_internal.queue_counts() is
  'unfinished jobs of each queue: ready, running, scheduled and waiting, and since when the oldest ready one waits';
