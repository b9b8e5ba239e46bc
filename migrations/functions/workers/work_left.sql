-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- For a worker that ends when there is no work. It asks while it has no call in flight, at most ten times a second.
--
-- Jobs that are about to become ready count as work. These are lists of a large INSERT, and rows that are due or have
-- no track yet. Ends that must be concluded or counted in a tree count too, also if they wait a second for a lock. The
-- same holds for schedules that are due, tokens being fetched, and workers about to be declared lost.
--
-- Jobs that a pause of a queue or lane delays for more than 5 s do not count, nor do scheduled jobs.
--
-- Finds tracks like survey, by hopping from one to the next.
create or replace function postrider_internal.work_left(p_queues text[]) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when exists (
           with recursive held as (
             (select r.track as id from postrider_internal.ready r where r.track > 0 order by r.track limit 1)
             union all
             select (select r.track from postrider_internal.ready r where r.track > h.id order by r.track limit 1)
               from held h
              where h.id is not null)
           select
             from held h
             join postrider_internal.track_names t on t.id = h.id
            where (p_queues is null or t.queue = any (p_queues))
              and not exists (select from postrider.queues q where q.name = t.queue and q.paused)
              and not exists (select from postrider.lanes n
                              where n.name = t.lane and n.paused_until > now() + interval '5 s')
              and not exists (select from postrider_internal.lane_pauses p
                              where p.lane = t.lane and p.until > now() + interval '5 s')
              and exists (select from postrider_internal.ready r where r.track = h.id and r.worker = 0))
      then 'ready'
    when exists (select from postrider_internal.intake i where p_queues is null or i.queue = any (p_queues)
                 or i.queues && p_queues)
      then 'intake'
    when exists (
           select from postrider_internal.scheduled s
            where s.run_at <= now()
              and (p_queues is null or (select j.queue from postrider.jobs j where j.id = s.job_id) = any (p_queues)))
      then 'due'
    when exists (
           select from postrider_internal.ready r
            where r.track = 0 and r.worker = 0
              and (p_queues is null or (select j.queue from postrider.jobs j where j.id = r.job_id) = any (p_queues)))
      then 'track'
    when exists (
           select from postrider_internal.outcomes o
            where o.due_at <= now() + interval '1 s'
              and (p_queues is null or (select j.queue from postrider.jobs j where j.id = o.job_id) = any (p_queues)))
      then 'end'
    when exists (
           select from postrider_internal.credential_waits w
             join postrider.credentials c on c.name = w.credential
            where c.state in ('active', 'refreshing')
              and (p_queues is null or (select j.queue from postrider.jobs j where j.id = w.job_id) = any (p_queues)))
      then 'token'
    when exists (select from postrider_internal.tree_deltas d where (d.due_at <= now() + interval '1 s') is not false)
      or exists (select from postrider_internal.trees t where t.is_draining)
      then 'tree'
    when exists (select from postrider.schedules s where s.next_run_at <= now())
      then 'schedule'
    when exists (
           select from postrider_internal.workers w
             where w.ended_at is null and w.heartbeat_at < clock_timestamp() - interval '10 s')
      then 'lost worker'
  end;
end
$$;
comment on function postrider_internal.work_left(text[]) is
  'the kind of work left for these queues (null: all), without jobs under a long pause; null: no work';
