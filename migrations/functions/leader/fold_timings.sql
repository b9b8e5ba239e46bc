-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- A job of a later attempt has waited for its retry, not for a worker, so only its call counts. A job whose callbacks
-- still run has no result yet and is left out. total_us ends at 35 minutes, the largest int.
-- The duration of a longer call is computed from its times, as in the view attempts.
create or replace function postrider_internal.fold_timings(p_minutes timestamptz[], p_jobs bigint[],
                                                           p_weights int[]) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into postrider_internal.timings as t (minute, kind, bucket, jobs)
  select s.minute, k.kind, greatest(0, floor(4 * ln(greatest(k.us, 1)) / ln(2::double precision)))::smallint,
         sum(s.weight)
    from unnest(p_minutes, p_jobs, p_weights) s (minute, job_id, weight)
    join postrider_internal.results r on r.job_id = any (array[s.job_id])
    join postrider.jobs j on j.id = any (array[s.job_id])
   cross join lateral (values
         ('w'::"char", case when r.attempt = 1
          then date_part('epoch', r.started_at - greatest(j.run_at, j.created_at)) * 1000000 end),
         ('c', case when r.total_us = 2147483647 then date_part('epoch', r.finished_at - r.started_at) * 1000000
                    else r.total_us end)) k (kind, us)
   where k.us is not null
   group by 1, 2, 3
      on conflict (minute, kind, bucket) do update set jobs = t.jobs + excluded.jobs
$$;
comment on function postrider_internal.fold_timings(timestamptz[], bigint[], int[]) is
  'leader: adds the times of these jobs to timings, multiplied by their weights';
