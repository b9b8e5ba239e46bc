-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- A worker reports its calls in flight every 3 s, and a call is often over by then. So calls are counted at the front
-- of the tracks, with room for some ready rows between them. If there are too many tracks or slots, they are not
-- counted.
create or replace function postrider_internal.explain_turn(p_job postrider.jobs, p_lane text, p_track int,
                                                           p_seq bigint) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_workers int[];
  v_is_any boolean;
  v_queues text[];
  v_slots bigint;
  v_busy bigint;
  v_ahead bigint;                          -- earlier jobs of the same track
  v_above bigint;                          -- jobs of higher priority
  -- reschedule changes only the track, not jobs.priority.
  v_priority smallint := coalesce((select t.priority from postrider_internal.tracks t where t.id = p_track),
                                  p_job.priority);
begin
  select array_agg(w.id), bool_or(w.queues is null), sum(w.concurrency), sum(w.in_flight)
    into v_workers, v_is_any, v_slots, v_busy
    from postrider_internal.workers w
   where w.ended_at is null and not w.draining and w.heartbeat_at >= clock_timestamp() - interval '10 s'
     and (w.queues is null or p_job.queue = any (w.queues));
  select array_agg(q.name) into v_queues
    from postrider_internal.workers w cross join lateral unnest(w.queues) q (name) where w.id = any (v_workers);
  if v_slots <= 1000 and not exists (select from postrider_internal.tracks offset 999) then
    select count(*) into v_busy
      from (select t.id from postrider_internal.tracks t union all select 0) t
     cross join lateral (
           select r.worker from postrider_internal.ready r where r.track = t.id
             order by r.track, r.seq limit v_slots + 100) r
     where r.worker = any (v_workers);
  end if;
  select count(*) into v_ahead
    from (select from postrider_internal.ready r
           where r.track = p_track and r.seq < p_seq and r.worker = 0 limit 10001) a;
  select count(*) into v_above
    from (select
            from postrider_internal.tracks t
           cross join lateral (
                 select from postrider_internal.ready r where r.track = t.id and r.worker = 0
                   order by r.track, r.seq limit 10001) r
           where t.priority > v_priority and (v_is_any or t.queue = any (v_queues))
             and not exists (select from postrider.queues q where q.name = t.queue and q.paused)
             and not exists (select from postrider.lanes n where n.name = t.lane and n.paused_until > now())
             and not exists (select from postrider_internal.lane_pauses p where p.lane = t.lane and p.until > now())
           limit 10001) a;
  return format('%s job(s) before it in lane %s at priority %s%s, %s worker(s) with %s free slot(s) take queue %s; it begins %s',
    case when v_ahead > 10000 then 'over 10000' else v_ahead::text end, p_lane, v_priority,
    case when v_above > 10000 then ' and over 10000 of higher priority'
         when v_above > 0 then format(' and %s of higher priority', v_above) end,
    cardinality(v_workers), greatest(v_slots - v_busy, 0), p_job.queue,
    case when v_slots - v_busy > v_ahead + v_above then 'in a moment'
         when v_ahead + v_above = 0 then 'when a call has ended'
         else 'when these jobs have begun and a slot is free' end);
end
$$;
comment on function postrider_internal.explain_turn(postrider.jobs, text, int, bigint) is
  'the part of explain that says which jobs precede a ready job that nothing holds, and which workers take it';
