-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Each span is returned once. A request belongs to the worker whose attempt has ended it, known by the fence; 0 is the
-- fence of a job that ended without the end of its attempt, like a cancelled one.
--
-- A batch or chain is asked for with the fence 0 by each worker that ran a member, so traced_run keeps which run was
-- taken. Locked rows are skipped: they are returned to the next question.
--
-- A member that has the traceparent of its parent stands below its parent. Other jobs stand below their own
-- traceparent. p_all: jobs without a traceparent have a trace, too.
--
-- A step of a chain waits for the steps before it. So its span starts when the step before it has ended.
create or replace function postrider_internal.take_ended_spans(p_jobs bigint[], p_fences bigint[], p_all boolean)
returns table (
  job_id bigint, fence bigint, parent_id bigint, root_id bigint, is_below_parent boolean, traceparent text,
  tracestate text, kind text, state text, queue text, lane text, service text, operation text, start_us bigint,
  end_us bigint, attempt int, status_code int, error_code text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_trees bigint[];
begin
  if 0 = any (p_fences) then
    with free as materialized (
      select t.job_id
        from unnest(p_jobs, p_fences) a (job, fence)
       cross join lateral (
             select x.job_id from postrider_internal.trees x
              where x.job_id = a.job and x.traced_run < x.run and x.state not in ('w', 'o')
                and exists (select from postrider_internal.results r where r.job_id = x.job_id)
                for no key update skip locked) t
       where a.fence = 0),
    taken as (
      update postrider_internal.trees t set traced_run = t.run from free f where t.job_id = f.job_id
      returning t.job_id)
    select coalesce(array_agg(t.job_id), '{}') into v_trees from taken t;
  end if;
  return query
  select j.id, a.fence, j.parent_id,
         coalesce((select t.root_id from postrider_internal.trees t
                    where t.job_id = coalesce(j.parent_id, j.id)), j.id),
         j.parent_id is not null and p.traceparent is not distinct from j.traceparent, j.traceparent, j.tracestate,
         j.kind, postrider_internal.state_name(r.state), j.queue, coalesce(j.lane, j.service), j.service, j.operation,
         (extract(epoch from least(greatest(j.created_at, j.run_at, b.ended_at),
                                  coalesce(r.started_at, r.finished_at))) * 1000000)::bigint,
         (extract(epoch from r.finished_at) * 1000000)::bigint, r.attempt, r.status_code::int, r.error_code
    from unnest(p_jobs, p_fences) a (job, fence)
   cross join lateral (
         select x.started_at, x.finished_at, x.fence, x.state, x.attempt, x.status_code, x.error_code
           from postrider_internal.results x where x.job_id = a.job limit 1) r
   cross join lateral (select x.* from postrider.jobs x where x.id = a.job limit 1) j
    left join lateral (
         select x.traceparent from postrider.jobs x where x.id = j.parent_id and j.parent_id is not null limit 1) p
           on true
    left join lateral (
         select e.finished_at as ended_at
           from postrider_internal.members m
          cross join lateral (
                select q.job_id from postrider_internal.members q
                 where q.parent_id = m.parent_id and q.position < m.position order by q.position desc limit 1) q
          cross join lateral (
                select x.finished_at from postrider_internal.results x where x.job_id = q.job_id limit 1) e
          where j.parent_id is not null and m.job_id = j.id and exists (
                select from postrider_internal.trees t where t.job_id = m.parent_id and t.kind = 'c') limit 1) b on true
   where (j.traceparent is not null or p_all)
     and case when j.kind = 'request' then r.fence in (a.fence, 0) else j.id = any (v_trees) end;
end
$$;
comment on function postrider_internal.take_ended_spans(bigint[], bigint[], boolean) is
  'the facts for the spans of those of p_jobs that have ended, each once; p_all: those without a traceparent too';
