-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- fold passes only lanes in which most calls failed, and lanes that have a row. So lanes in which a call fails now and
-- then cost no writes. A lane keeps its row while it is failing, or while bad is more than half of good.
create or replace function postrider_internal.fold_retries(
  p_lanes text[], p_calls bigint[], p_good bigint[], p_bad bigint[], p_now timestamptz, p_is_full boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_lanes is not null then
    with updated as materialized (
      select x.lane, w.calls, w.good, w.bad, w.strained_since, w.failing, w.at,
             w.failing or w.bad > w.good / 2 as stays
        from unnest(p_lanes, p_calls, p_good, p_bad) as x(lane, calls, good, bad)
        left join postrider_internal.failing_lanes r on r.lane = x.lane
       cross join lateral postrider_internal.update_retry_budget(r, x.calls, x.good, x.bad, p_now) w),
    gone as (
      delete from postrider_internal.failing_lanes r using updated w where r.lane = w.lane and not w.stays)
    insert into postrider_internal.failing_lanes as r (lane, calls, good, bad, strained_since, failing, at)
    select w.lane, w.calls, w.good, w.bad, w.strained_since, w.failing, w.at
      from updated w where w.stays order by w.lane
        on conflict (lane) do update
       set calls = excluded.calls, good = excluded.good, bad = excluded.bad, strained_since = excluded.strained_since,
           failing = excluded.failing, at = excluded.at;
  end if;
  delete from postrider_internal.failing_lanes r where r.failing and r.at < p_now - interval '1 min';
  if p_is_full then
    delete from postrider_internal.failing_lanes r where r.at < p_now - interval '1 min';
  end if;
end
$$;
comment on function postrider_internal.fold_retries(text[], bigint[], bigint[], bigint[], timestamptz, boolean) is
  'adds the results of calls to failing_lanes; removes failing lanes (p_is_full: all) without a call for a minute';
