-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans, no-seqscan, no-bitmapscan, nested-loops
-- Finds each state in the table of its rows, by an index in the order of ids. job_status starts at the job and derives
-- the state from six other tables, so it cannot do that. The planner drops the parts below that belong to other states.
--
-- Ready jobs are searched in the tracks whose last jobs are the newest, because no other track has any of the newest
-- jobs. Running jobs are at the front of their track. As many rows as there are slots, and some more, are read of each
-- track whose first rows show one. Waiting members belong to open trees. A ready job with seq <> job_id has an index.
--
-- Successful jobs of a queue other than default are found by the index of such queues. In the other cases jobs of other
-- queues are skipped, 2 µs each.
--
-- p_from bounds the ready jobs alone: with many tracks, each of them could have rows for the whole limit.
create or replace function postrider_internal.newest_of_state(
  p_state text, p_queue text, p_limit int, p_before bigint default null, p_from bigint default 0)
returns table (id bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_state text := p_state; v_limit int := p_limit; v_queue text := p_queue;
  v_before bigint := coalesce(p_before, 9223372036854775807); v_from bigint := p_from;
  v_any boolean := p_queue is null; v_is_named boolean := coalesce(p_queue <> 'default', false);
  v_code "char" := case p_state when 'succeeded' then 's' when 'failed' then 'f' when 'cancelled' then 'c'
                     when 'expired' then 'e' when 'skipped' then 'k' when 'unknown' then 'u' end;
  v_first bigint; v_front bigint;          -- rows read of each track, and of a track with running jobs
begin
  if v_state = 'running' then
    select least(coalesce(sum(w.concurrency), 0) + 100, 10000), greatest(10, 20000 / (select count(*) + 1
      from postrider_internal.tracks)) into v_front, v_first from postrider_internal.workers w where w.ended_at is null;
  end if;
  return query
    select u.job_id from (
      (select r.job_id from postrider_internal.results r
        where r.state = v_code and not (v_code = 's' and v_is_named) and r.job_id < v_before
          and (v_any or postrider_internal.job_queue(r.job_id) = v_queue)
        order by r.job_id desc limit v_limit)
      union all
      (select j.id from postrider.jobs j join postrider_internal.results r on r.job_id = j.id
        where v_code = 's' and v_is_named and j.queue = v_queue and j.queue <> 'default' and j.id < v_before
          and r.state = 's'
        order by j.id desc limit v_limit)
      union all
      select o.job_id from postrider_internal.outcomes o
       where case when o.state in ('c', 'e', 'k') then o.state = v_code else v_state = 'running' end
         and o.job_id < v_before and (v_any or postrider_internal.job_queue(o.job_id) = v_queue)
      union all
      select f.job_id from postrider_internal.tracks t
       cross join lateral (
             select r.job_id, r.worker from postrider_internal.ready r where r.track = t.id
               order by r.track, r.seq limit v_front) f
       where v_state = 'running' and f.worker > 0 and f.job_id < v_before and (v_any or t.queue = v_queue)
         and exists (select from (select r.worker from postrider_internal.ready r where r.track = t.id
                                   order by r.track, r.seq limit v_first) h where h.worker > 0)
      union all
      select l.job_id
        from (select t.id, n.seq
                from (select t.id from postrider_internal.tracks t where v_any or t.queue = v_queue
                      union all select 0) t
               cross join lateral (
                     select r.seq from postrider_internal.ready r
                      where r.track = t.id and r.worker = 0 and r.seq = r.job_id and r.seq < v_before
                        and r.seq >= v_from
                        and (t.id > 0 or v_any or postrider_internal.job_queue(r.job_id) = v_queue)
                      order by r.track desc, r.seq desc limit 1) n
               where v_state = 'ready'
               order by n.seq desc limit v_limit) t
       cross join lateral (
             select r.job_id from postrider_internal.ready r
              where r.track = t.id and r.worker = 0 and r.seq = r.job_id and r.seq < v_before and r.seq >= v_from
                and (t.id > 0 or v_any or postrider_internal.job_queue(r.job_id) = v_queue)
              order by r.track desc, r.seq desc limit v_limit) l
      union all
      (select r.job_id from postrider_internal.ready r
        where v_state = 'ready' and r.worker = 0 and r.seq <> r.job_id and r.job_id < v_before and r.job_id >= v_from
          and (v_any or postrider_internal.job_queue(r.job_id) = v_queue)
        order by r.job_id desc limit v_limit)
      union all
      select coalesce(i.ids[n.nth], n.nth)
        from (select x.ids, x.first_id, x.last_id, x.jobs, x.queues from postrider_internal.intake x
               where v_state = 'ready' and (v_any or x.queue = v_queue or v_queue = any (x.queues))
                 and x.first_id < v_before and x.last_id >= v_from
               order by x.last_id desc
               limit case when p_before is null
                           and (v_any or not exists (select from postrider_internal.intake y where y.queue is null))
                 then v_limit end) i
       cross join lateral (values (case when i.ids is null then greatest(i.first_id, v_from) else 1 end,
                                   case when i.ids is null
                                     then least(i.last_id, v_before - 1) else i.jobs end)) e (first, last)
       cross join lateral generate_series(
             e.last, case when (v_any or i.queues is null) and (i.ids is null or i.last_id < v_before)
               then greatest(e.first, e.last - v_limit + 1) else e.first end, -1) n (nth)
       where (v_any or i.queues is null or i.queues[n.nth] = v_queue)
         and coalesce(i.ids[n.nth], n.nth) < v_before and coalesce(i.ids[n.nth], n.nth) >= v_from
      union all
      (select s.job_id from postrider_internal.scheduled s
        where v_state = 'scheduled' and s.job_id < v_before
          and (v_any or coalesce((select t.queue from postrider_internal.tracks t where t.id = s.track),
                                 postrider_internal.job_queue(s.job_id)) = v_queue)
        order by s.job_id desc limit v_limit)
      union all
      select t.job_id from postrider_internal.trees t
       where postrider_internal.is_open_tree(t.state) and t.job_id < v_before
         and v_state = case when t.state = 'w' then 'waiting' when t.run_at > now() then 'scheduled' else 'running' end
         and (v_any or postrider_internal.job_queue(t.job_id) = v_queue)
      union all
      select w.job_id from postrider_internal.trees t
       cross join lateral (
             select m.job_id from postrider_internal.members m
              where m.parent_id = t.job_id and m.is_waiting and m.job_id < v_before
                and (v_any or postrider_internal.job_queue(m.job_id) = v_queue)
                and not exists (select from postrider_internal.trees x where x.job_id = m.job_id)
              order by m.parent_id desc, m.position desc limit v_limit) w
       where v_state = 'waiting' and postrider_internal.is_open_tree(t.state)) u (job_id)
     order by 1 desc limit v_limit;
end
$$;
comment on function postrider_internal.newest_of_state(text, text, int, bigint, bigint) is
  'the newest jobs in a state with ids below p_before, newest first; p_queue null: of any queue';
