-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Reads the exact statistics of one queue: at most 60 minutes of each state. A retry takes the failure back, so a count
-- could be below zero. A page calls it for 200 queues, so it is in PL/pgSQL, which keeps the plan.
create or replace function postrider_internal.queue_trend(p_queue text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(greatest(c.ended, 0) || ':' || greatest(c.failed, 0), ' ' order by s.slot)
      from generate_series(0, 29) s (slot)
      left join (
           select floor(extract(epoch from t.minute - b.start) / 120)::int as slot, sum(t.jobs) as ended,
                  sum(t.jobs) filter (where t.state in ('f', 'u', 'e')) as failed
             from (select date_trunc('minute', now()) - interval '59 minutes' as start) b
            cross join lateral (
                  select x.minute, x.state, x.jobs from postrider_internal.job_totals x
                   where x.queue = p_queue and x.minute >= b.start) t
            where t.state in ('s', 'f', 'c', 'e', 'k', 'u')
            group by 1) c on c.slot = s.slot
    having sum(c.ended) > 0);
end
$$;
comment on function postrider_internal.queue_trend(text) is
  'jobs of a queue that ended and failed in each two minutes of the last hour, like 5:0 7:1; null: none ended';
