-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- For workers of an older version. Newer workers call report_calls.
create or replace function postrider_internal.report_progress(
  p_worker int, p_job bigint[], p_fence bigint[], p_done bigint[], p_total bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  delete from postrider_internal.progress p where p.worker = p_worker and p.job_id <> all (p_job);
  insert into postrider_internal.progress as p (job_id, fence, worker, done, total)
  select x.job, x.fence, p_worker, x.done, x.total
    from unnest(p_job, p_fence, p_done, p_total) as x(job, fence, done, total)
   order by x.job
      on conflict (job_id) do update
         set fence = excluded.fence, worker = excluded.worker, done = excluded.done, total = excluded.total,
           at = excluded.at
       where p.fence <= excluded.fence;
end
$$;
comment on function postrider_internal.report_progress(int, bigint[], bigint[], bigint[], bigint[]) is
  'stores the progress of long transfers of a worker once a second, and deletes rows of jobs that are not listed';
