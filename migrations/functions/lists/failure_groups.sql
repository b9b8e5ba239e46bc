-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans, no-seqscan, no-bitmapscan, nested-loops
-- Reads the p_window failures that ended last, by the index results_failures. The ends of `since` and `until` are ends
-- of that index. Each row has `looked`, the failures read, and `reached`, the end of the oldest one if older ones may
-- match. Without a group there is one row, which has only these two.
create or replace function postrider_internal.failure_groups(p_filter jsonb, p_window int)
returns table (
  service text, lane text, error_code text, error_name text, status_code int, state text, jobs bigint,
  first_at timestamptz, last_at timestamptz, newest_job bigint, error text, looked bigint, reached timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format(
    $q$with read as (
      select r.job_id, r.fence, r.state, r.status_code, r.error_code, r.error, r.finished_at
        from postrider_internal.results r
       where r.state in ('f', 'u', 'e') and r.finished_at >= %L and r.finished_at < %L
       order by r.finished_at desc, r.job_id desc limit %s),
    named as (
      select j.service, postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) as lane, r.error_code,
             case when r.state = 'f' then (select e.name from postrider_internal.envelope_errors e
                                            where e.job_id = r.job_id and e.fence = r.fence) end as error_name,
             r.status_code::int as status_code, r.state, r.job_id, r.finished_at, r.error
        from read r cross join lateral (select x.* from postrider.jobs x where x.id = r.job_id offset 0) j
        left join postrider_internal.outcomes o on false
       where %s),
    groups as (
      select n.service, n.lane, n.error_code, n.error_name, n.status_code, postrider_internal.state_name(n.state),
             count(*) as jobs, min(n.finished_at), max(n.finished_at) as last_at, max(n.job_id),
             (array_agg(left(n.error, 300) order by n.job_id desc))[1]
        from named n
       group by n.service, n.lane, n.error_code, n.error_name, n.status_code, n.state)
    select g.*, t.looked, t.reached
      from (select count(*) as looked, case when count(*) = %s then min(x.finished_at) end as reached from read x) t
      left join groups g on true
     order by g.jobs desc nulls last, g.last_at desc$q$,
    coalesce((p_filter ->> 'since')::timestamptz, '-infinity'),
    coalesce((p_filter ->> 'until')::timestamptz, 'infinity'), p_window,
    postrider_internal.job_conditions(p_filter - array['since', 'until']), p_window);
end
$$;
comment on function postrider_internal.failure_groups(jsonb, int) is
  'the last failures that match a filter (see job_conditions), counted by service, lane, error, status and state';
