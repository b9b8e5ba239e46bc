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
       w.started_at, w.heartbeat_at, w.ended_at, w.environment, w.results_waiting, w.results_waiting_since,
       w.judgements_waiting, w.judgements_since
  from postrider_internal.workers w
  left join postrider_internal.leases l on l.name = 'leader'
 where w.ended_at is null or w.ended_at > now() - interval '1 day'
 order by w.ended_at is not null, w.id;
comment on view postrider.worker_status is
  'one row for each start of a worker that runs or ended within a day';
comment on column postrider.worker_status.worker is 'host and process';
comment on column postrider.worker_status.epoch is
  'number of this start; a worker that was declared lost and comes back gets a new one';
comment on column postrider.worker_status.state is
  'running, draining (finishes what runs), silent (no heartbeat for 10 s), lost (its jobs were given to others), ended';
comment on column postrider.worker_status.version is 'of the program';
comment on column postrider.worker_status.queues is 'what it takes: all, or names';
comment on column postrider.worker_status.concurrency is 'calls that it makes at once';
comment on column postrider.worker_status.in_flight is 'calls under way, as of its last heartbeat';
comment on column postrider.worker_status.leader is 'whether it does what one worker does for all';
comment on column postrider.worker_status.started_at is 'when it enlisted';
comment on column postrider.worker_status.heartbeat_at is 'when it last said that it lives; every 3 s';
comment on column postrider.worker_status.ended_at is 'when it said goodbye or was declared lost';
comment on column postrider.worker_status.environment is 'whose servers it uses';
comment on column postrider.worker_status.results_waiting is
  'results that the database has refused and that the worker writes again, as of its last heartbeat';
comment on column postrider.worker_status.results_waiting_since is 'since when it has such results; null: it has none';
comment on column postrider.worker_status.judgements_waiting is
  'answers with expensive expressions that wait to be judged, as of its last heartbeat; more than a few: see error_code too_expensive';
comment on column postrider.worker_status.judgements_since is 'when the oldest of them came; null: none waits';
