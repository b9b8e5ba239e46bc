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
comment on view postrider.worker_status is 'one row for each start of a worker that is running or ended within a day';
comment on column postrider.worker_status.worker is 'host and process of the worker';
comment on column postrider.worker_status.epoch is 'number of this start; a lost worker that returns gets a new number';
comment on column postrider.worker_status.state is
  'running, draining (finishes its calls), silent (no heartbeat for 10 s), lost (other workers got its jobs), ended';
comment on column postrider.worker_status.version is 'version of the worker program';
comment on column postrider.worker_status.queues is 'queues that the worker takes; all: every queue';
comment on column postrider.worker_status.concurrency is 'most calls in flight at once';
comment on column postrider.worker_status.in_flight is 'calls in flight, as of its last heartbeat';
comment on column postrider.worker_status.leader is 'true: this worker is the leader of the fleet';
comment on column postrider.worker_status.started_at is 'when the worker registered';
comment on column postrider.worker_status.heartbeat_at is 'last heartbeat; a worker sends one every 3 s';
comment on column postrider.worker_status.ended_at is 'when the worker left or was declared lost';
comment on column postrider.worker_status.environment is 'environment whose servers the worker uses';
comment on column postrider.worker_status.results_waiting is
  'results that the database has refused and the worker writes again, as of its last heartbeat';
comment on column postrider.worker_status.results_waiting_since is
  'since when the worker has such results; null: no such results';
comment on column postrider.worker_status.judgements_waiting is
  'answers that wait for expensive expressions, as of the last heartbeat; if many, see error code too_expensive';
comment on column postrider.worker_status.judgements_since is
  'when the oldest of these answers came; null: no such answers';
