-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Times are milliseconds before and after this moment, because each machine has its own clock. p_is_whole: the arrays
-- hold all long calls of the worker, so rows of other jobs are deleted.
create or replace function postrider_internal.report_calls(
  p_worker int, p_is_whole boolean, p_gone bigint[], p_job bigint[], p_fence bigint[], p_track int[], p_seq bigint[],
  p_attempt int[],
  p_phase text[], p_since_ms bigint[], p_deadline_ms bigint[], p_done bigint[], p_total bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  if p_is_whole then
    delete from postrider_internal.progress p where p.worker = p_worker and p.job_id <> all (p_job);
  elsif p_gone <> '{}' then
    delete from postrider_internal.progress p where p.job_id = any (p_gone) and p.worker = p_worker;
  end if;
  if p_job <> '{}' then
    insert into postrider_internal.progress as p (job_id, fence, worker, done, total, track, seq, attempt, phase,
                                                  phase_since, deadline)
    select x.job, x.fence, p_worker, x.done, x.total, x.track, x.seq, x.attempt, x.phase,
           clock_timestamp() - x.since_ms * interval '1 ms', clock_timestamp() + x.deadline_ms * interval '1 ms'
      from unnest(p_job, p_fence, p_done, p_total, p_track, p_seq, p_attempt, p_phase, p_since_ms, p_deadline_ms)
             as x(job, fence, done, total, track, seq, attempt, phase, since_ms, deadline_ms)
     order by x.job
        on conflict (job_id) do update
           set fence = excluded.fence, worker = excluded.worker, done = excluded.done, total = excluded.total,
             at = excluded.at,
               track = excluded.track, seq = excluded.seq, attempt = excluded.attempt, phase = excluded.phase,
               phase_since = excluded.phase_since, deadline = excluded.deadline
         where p.fence <= excluded.fence;
  end if;
end
$$;
comment on function postrider_internal.report_calls(int, boolean, bigint[], bigint[], bigint[], int[], bigint[], int[],
                                                    text[], bigint[], bigint[], bigint[], bigint[]) is
  'stores changes in the long calls of a worker, at most once a second; p_gone: jobs whose calls have ended';
