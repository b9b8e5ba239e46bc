-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- For a worker that ends when there is nothing to do: asked while it has nothing under way itself, at most ten times a
-- second.
--
-- What is still to be made ready counts as work: lists of a large INSERT, rows that are due or have no track yet, ends
-- to be concluded or told to a batch or chain (what waits a second for a lock, too), schedules that are due, tokens
-- that are being fetched, and workers that are about to be declared lost. What a queue's or lane's pause holds back for
-- more than 5 s is not waited for, nor is what is scheduled.
--
-- Tracks are looked for as survey does it, by hopping from one to the next.
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
  'what there is to do for the queues given (null: all) that no long pause holds back, in a word: ready, intake, due, track, end, token, tree, schedule, lost worker; null: nothing';
