-- SPDX-License-Identifier: Apache-2.0
-- after: track_names.sql
create or replace view postrider.queue_status as
with standing as materialized (select * from postrider_internal.queue_counts()),
counted as (
  select c.queue, sum(c.jobs) filter (where c.state = 's') as succeeded,
         sum(c.jobs) filter (where c.state = 'f') as failed,
         sum(c.jobs) filter (where c.state = 'c') as cancelled, sum(c.jobs) filter (where c.state = 'e') as expired,
         sum(c.jobs) filter (where c.state = 'k') as skipped, sum(c.jobs) filter (where c.state = 'u') as unknown,
         sum(c.jobs * c.weight) filter (where postrider_internal.is_final_outcome(c.state)) as last_minute
    -- The minute before this one counts in proportion to its part in the last sixty seconds, as if its ends were spread
    -- evenly.
    from (select queue, state, jobs,
                 case when minute >= date_trunc('minute', now()) then 1
                      when minute >= date_trunc('minute', now() - interval '1 minute')
                        then 1 - extract(second from now()) / 60
                      else 0 end as weight
            from postrider_internal.job_totals
          union all
          select coalesce(y.queue, t.queue, 'default'), s.state, s.jobs, (y.at >= now() - interval '1 minute')::int
            from postrider_internal.job_deltas y cross
              join lateral unnest(y.tracks, y.states, y.jobs) as s(track, state, jobs)
            left join postrider_internal.track_names t on t.id = s.track) c
   group by c.queue),
-- The queues of live workers that claim; null: all queues.
takers as materialized (
  select distinct w.queues from postrider_internal.workers w
   where w.ended_at is null and not w.draining and w.heartbeat_at >= clock_timestamp() - interval '10 s')
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
       coalesce(s.waiting, 0) as waiting,
       exists (select from takers t where t.queues is null or q.queue = any (t.queues)) as has_worker
  from (select queue from standing union select queue from counted union select name from postrider.queues) q
  left join standing s using (queue)
  left join counted c using (queue)
  left join postrider.queues p on p.name = q.queue;
comment on view postrider.queue_status is
  'one row for each queue: requests by state, rate and pause; above about 100000 jobs, within a few percent';
comment on column postrider.queue_status.queue is 'name of the queue';
comment on column postrider.queue_status.ready is 'requests that could run now and wait for a free slot';
comment on column postrider.queue_status.scheduled is 'requests with run_at in the future, and retries';
comment on column postrider.queue_status.running is 'calls in flight';
comment on column postrider.queue_status.succeeded is 'all requests that ended succeeded, deleted ones included';
comment on column postrider.queue_status.failed is 'all requests that ended failed, deleted ones included';
comment on column postrider.queue_status.cancelled is 'all requests that ended cancelled, deleted ones included';
comment on column postrider.queue_status.expired is 'all requests that ended expired, deleted ones included';
comment on column postrider.queue_status.skipped is 'all requests that ended skipped, deleted ones included';
comment on column postrider.queue_status.unknown is 'all requests that ended unknown, deleted ones included';
comment on column postrider.queue_status.oldest_ready_age is
  'waiting time of the oldest ready request; null: no ready request';
comment on column postrider.queue_status.rate_per_second is
  'estimate of requests a second that succeeded, failed or ended unknown in the last 60 s';
comment on column postrider.queue_status.estimated_drain is
  'time to run all ready requests at that rate; null: the rate is 0';
comment on column postrider.queue_status.paused is 'true: pause_queue has paused the queue';
comment on column postrider.queue_status.waiting is 'members of batches and chains that wait for their turn';
comment on column postrider.queue_status.has_worker is
  'true: a live worker that is not draining takes jobs of the queue';
