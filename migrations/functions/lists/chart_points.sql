-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans, no-seqscan, no-bitmapscan, nested-loops
-- The minute statistics hold one hour, and their times have no queue, lane or service. So this function reads a sample
-- of the jobs that were inserted within the range.
--
-- It reads 500 places at equal distances in the ids, 8 ids at each. Neighbours share pages of the disk. Each job stands
-- for `stride / 8` ids. If the range has at most 4,000 ids, it reads them all.
--
-- Jobs inserted before the range that ended within it are not counted.
create or replace function postrider_internal.chart_points(p_range interval, p_step interval, p_filter jsonb)
returns table (
  slot int, finished double precision, failed double precision, wait_p50_ms double precision,
  wait_p95_ms double precision, wait_p99_ms double precision, call_p50_ms double precision,
  call_p95_ms double precision, call_p99_ms double precision, sampled bigint, is_exact boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_start timestamptz := date_bin(p_step, now(), 'epoch') + p_step - p_range;
  v_first bigint := postrider_internal.first_job_since(v_start);
  v_last bigint := (select j.id from postrider.jobs j order by j.id desc limit 1);
  v_stride double precision := greatest((v_last - v_first + 1) / 500.0, 8);
begin
  return query execute format(
    $q$select floor(extract(epoch from s.finished_at - $1) / extract(epoch from $2))::int, count(*) * $5 / 8,
           count(*) filter (where s.state in ('f', 'u', 'e')) * $5 / 8,
           percentile_disc(0.5) within group (order by s.wait), percentile_disc(0.95) within group (order by s.wait),
           percentile_disc(0.99) within group (order by s.wait), percentile_disc(0.5) within group (order by s.call),
           percentile_disc(0.95) within group (order by s.call), percentile_disc(0.99) within group (order by s.call),
           count(*), $5 = 8
      from generate_series(0, 499) k (nth)
     cross join lateral (
           select r.finished_at, r.state, r.total_us / 1000.0::double precision as call,
                  case when r.attempt = 1 and j.parent_id is null
                    then extract(epoch from r.started_at - greatest(j.run_at, j.created_at)) * 1000 end
                    ::double precision as wait
             from (select x.* from postrider.jobs x
                    where x.id >= $3 + floor(k.nth * $5)::bigint and x.id <= $4
                      and x.id < $3 + least(floor(k.nth * $5)::bigint + 8, floor((k.nth + 1) * $5)::bigint)
                    order by x.id limit 8) j
            cross join lateral (select x.* from postrider_internal.results x where x.job_id = j.id offset 0) r
             left join postrider_internal.outcomes o on false
            where r.finished_at >= $1 and r.finished_at < $1 + $6 and %s) s
     group by 1 order by 1$q$, postrider_internal.job_conditions(p_filter))
    using v_start, p_step, v_first, v_last, v_stride, p_range;
end
$$;
comment on function postrider_internal.chart_points(interval, interval, jsonb) is
  'jobs that ended in each step of the range up to now, with percentiles of waits and calls, from a sample of jobs';
