-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.explain_budget(p_lane text, p_attempt int) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(', at the earliest: most calls of its lane %s fail, so its retries are limited to %s a second (lanes.retry_budget, %s)',
           p_lane, round(r.rate), r.budget)
    from (select postrider_internal.retry_rate(q.failing, q.calls, q.at, b.budget, now()) as rate,
          trim_scale(b.budget) as budget
            from postrider_internal.failing_lanes q
           cross join lateral (
                 select coalesce((select n.retry_budget from postrider.lanes n where n.name = q.lane), 0.2) as budget) b
           where q.lane = p_lane and p_attempt > 0) r
   where r.rate is not null
$$;
comment on function postrider_internal.explain_budget(text, int) is
  'the part of explain that says that retries of a failing lane are delayed; null if they are not';
