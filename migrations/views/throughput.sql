-- SPDX-License-Identifier: Apache-2.0
-- A bucket is 19 % wide and shown as its middle, so a percentile is within 9 % of the true value.
create or replace view postrider.throughput as
with counted as (
  select c.minute, sum(c.jobs) filter (where c.state in ('s', 'f', 'c', 'e', 'k', 'u')) as finished,
         sum(c.jobs) filter (where c.state in ('f', 'e', 'u')) as failed
    from (select t.minute, t.state, t.jobs from postrider_internal.job_totals t where t.minute > '-infinity'
          union all
          select date_trunc('minute', y.at), s.state, s.jobs
            from postrider_internal.job_deltas y cross join lateral unnest(y.states, y.jobs) as s(state, jobs)
           where y.at > '-infinity') c
   group by c.minute),
ranked as (
  select t.minute, t.kind, round((power(2::double precision, (t.bucket + 0.5) / 4) / 1000)::numeric, 3) as ms,
         sum(t.jobs) over (partition by t.minute, t.kind
                           order by t.bucket) / sum(t.jobs) over (partition by t.minute, t.kind) as share
    from postrider_internal.timings t),
timed as (
  select r.minute,
         min(r.ms) filter (where r.kind = 'w' and r.share >= 0.50) as wait_p50_ms,
         min(r.ms) filter (where r.kind = 'w' and r.share >= 0.95) as wait_p95_ms,
         min(r.ms) filter (where r.kind = 'w' and r.share >= 0.99) as wait_p99_ms,
         min(r.ms) filter (where r.kind = 'c' and r.share >= 0.50) as call_p50_ms,
         min(r.ms) filter (where r.kind = 'c' and r.share >= 0.95) as call_p95_ms,
         min(r.ms) filter (where r.kind = 'c' and r.share >= 0.99) as call_p99_ms
    from ranked r group by r.minute)
select c.minute, coalesce(c.finished, 0)::bigint as finished, coalesce(c.failed, 0)::bigint as failed,
       t.wait_p50_ms, t.wait_p95_ms, t.wait_p99_ms, t.call_p50_ms, t.call_p95_ms, t.call_p99_ms
  from counted c left join timed t using (minute)
 order by c.minute;
comment on view postrider.throughput is
  'one row for each minute of the last hour with ended jobs: counts, and percentiles of waits and calls from a sample';
comment on column postrider.throughput.minute is 'start of the minute';
comment on column postrider.throughput.finished is 'jobs that ended in this minute';
comment on column postrider.throughput.failed is 'how many of these jobs failed, expired or ended unknown';
comment on column postrider.throughput.wait_p50_ms is
  'milliseconds from run_at to the first attempt, for jobs that ended on it: 50 % waited less';
comment on column postrider.throughput.wait_p95_ms is 'milliseconds as in wait_p50_ms: 95 % waited less';
comment on column postrider.throughput.wait_p99_ms is 'milliseconds as in wait_p50_ms: 99 % waited less';
comment on column postrider.throughput.call_p50_ms is
  'duration in milliseconds of calls that ended jobs: 50 % were shorter';
comment on column postrider.throughput.call_p95_ms is
  'duration in milliseconds of calls that ended jobs: 95 % were shorter';
comment on column postrider.throughput.call_p99_ms is
  'duration in milliseconds of calls that ended jobs: 99 % were shorter';
