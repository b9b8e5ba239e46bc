-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- A worker with many answers to judge takes no further job whose answer may be expensive. Such a job waits without
-- using an attempt or a slot. The wait lies between p_wait_ms and 1.5 times p_wait_ms, so that jobs deferred together
-- return at different times.
create or replace function postrider_internal.defer_expensive_jobs(
  p_worker int, p_wait_ms int, p_track int[], p_seq bigint[], p_fence bigint[], p_job bigint[])
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_held bigint[];
begin
  with expensive as materialized (
    select x.fence, l.spot
      from unnest(p_track, p_seq, p_fence, p_job) as x(track, seq, fence, job)
      join postrider.jobs j on j.id = any (array[x.job])
      left join postrider.services s on s.name = j.service
     cross join lateral (select postrider_internal.used_envelope(j.use_envelope, s.envelope) as envelope) u
     cross join lateral (
           select r.ctid as spot from postrider_internal.ready r where r.track = x.track and r.seq = x.seq offset 0) l
     where num_nonnulls(j.validator, j.extract, u.envelope, j.paginate) > 0
             and not postrider_internal.judges_cheaply(j, u.envelope)
           or num_nonnulls(j.rules, j.operation_rules, s.rules) > 0
             and not postrider_internal.has_cheap_rules(j, s.rules)),
  gone as (
    delete from postrider_internal.ready r
     using expensive x
     where r.ctid = x.spot and r.fence = x.fence and r.worker = p_worker
    returning r.*),
  kept as (
    insert into postrider_internal.scheduled (run_at, job_id, track, attempt, max_attempts, rekey, at_most_once,
                                              expires_at, parent_id, has_callbacks)
    select now() + p_wait_ms * (1 + random() / 2) * interval '1 ms', g.job_id, g.track, g.attempt - 1, g.max_attempts,
           g.rekey,
           g.at_most_once, g.expires_at, g.parent_id, g.has_callbacks
      from gone g)
  select coalesce(array_agg(g.job_id), '{}') into v_held from gone g;
  return v_held;
end
$$;
comment on function postrider_internal.defer_expensive_jobs(int, int, int[], bigint[], bigint[], bigint[]) is
  'reschedules those of the given claimed jobs whose answers may be expensive to judge, and returns their ids';
