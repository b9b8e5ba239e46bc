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
    -- Of the minute before this one counts as much as lies within the last sixty seconds, as if its ends were spread
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
-- What the workers take that live and claim; null: every queue.
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
  'one row for each queue: requests by state (batches and chains are counted by their members), exact up to about 100000 ready or scheduled ones and within a few percent beyond; age of the oldest ready one, calls that ended in the last minute, as a rate; time to drain at that rate, whether it is paused, whether a worker takes it';
comment on column postrider.queue_status.queue is 'its name';
comment on column postrider.queue_status.ready is 'requests that could run now and wait for a slot';
comment on column postrider.queue_status.scheduled is 'requests whose run_at has not come, retries too';
comment on column postrider.queue_status.running is 'calls under way';
comment on column postrider.queue_status.succeeded is 'requests that ended so, since the beginning';
comment on column postrider.queue_status.failed is 'requests that ended so, since the beginning';
comment on column postrider.queue_status.cancelled is 'requests that ended so, since the beginning';
comment on column postrider.queue_status.expired is 'requests that ended so, since the beginning';
comment on column postrider.queue_status.skipped is 'requests that ended so, since the beginning';
comment on column postrider.queue_status.unknown is 'requests that ended so, since the beginning';
comment on column postrider.queue_status.oldest_ready_age is
  'how long the ready request waits that has waited longest; null if there is none';
comment on column postrider.queue_status.rate_per_second is
  'calls that ended in the last sixty seconds, a second; of the calendar minute before this one a share counts';
comment on column postrider.queue_status.estimated_drain is
  'how long the ready ones take at that rate; null if nothing ended';
comment on column postrider.queue_status.paused is 'whether pause_queue stopped it';
comment on column postrider.queue_status.waiting is 'members of batches and chains whose turn has not come';
comment on column postrider.queue_status.has_worker is 'whether a worker that lives and is not draining takes its jobs';
