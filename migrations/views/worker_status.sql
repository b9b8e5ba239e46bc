-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.worker_status as
select w.name as worker, w.id as epoch,
       case when w.lost then 'lost'
            when w.ended_at is not null then 'ended'
            when w.heartbeat_at < clock_timestamp() - interval '10 s' then 'silent'
            when w.draining then 'draining'
            else 'running'
       end as state,
       w.version, coalesce(array_to_string(w.queues, ', '), 'all') as queues,
       w.concurrency, w.in_flight,
       coalesce(l.owner = w.id and l.until > clock_timestamp(), false) as leader,
       w.started_at, w.heartbeat_at, w.ended_at, w.environment
  from postrider.workers w
  left join postrider.leases l on l.name = 'leader'
 where w.ended_at is null or w.ended_at > now() - interval '1 day'
 order by w.ended_at is not null, w.id;
comment on view postrider.worker_status is
  'public: one row for each start of a worker that runs or ended within a day';
