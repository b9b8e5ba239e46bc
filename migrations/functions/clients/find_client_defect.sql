-- SPDX-License-Identifier: Apache-2.0
-- after: clients/find_limit_defect.sql
-- queue_new_jobs groups its new rows by the texts that a lane is made from, because each lane is computed once then.
--
-- PostgreSQL inlines this function, because it returns a set and is declared stable. As a function in PL/pgSQL it took
-- 20 µs, 3 % of an INSERT of 8 rows.
create or replace function postrider_internal.find_client_defect(p_groups postrider_internal.client_jobs[])
returns table (column_name text, reason text, hint text)
language sql stable
as $$
  select d.column_name, d.reason, d.hint
    from (select b.role, sum(b.jobs)::bigint as jobs, min(b.first_id) as first_id, max(b.last_id) as last_id,
                 min(b.lowest) as lowest, max(b.highest) as highest, max(b.timeout) as timeout,
                 bool_or(b.is_endless) as is_endless, max(b.body) as body, bool_or(b.downloads) as downloads,
                 array_agg(b.lane) filter (where b.jobs > 0) as lanes,
                 array_agg(b.jobs) filter (where b.jobs > 0) as lane_jobs
            from (select g.role, postrider_internal.job_lane(g.lane, g.scheme || '//' || g.host) as lane,
                         sum(g.jobs)::bigint as jobs, min(g.first_id) as first_id, max(g.last_id) as last_id,
                         min(g.lowest) as lowest, max(g.highest) as highest, max(g.timeout) as timeout,
                         bool_or(g.is_endless) as is_endless, max(g.body) as body, bool_or(g.downloads) as downloads
                    from unnest(p_groups) g group by 1, 2) b
           group by b.role) c
   cross join lateral postrider_internal.find_limit_defect(
           c.role, c.jobs, c.first_id, c.last_id, c.lowest, c.highest, c.timeout, c.is_endless, c.body, c.downloads,
           c.lanes, c.lane_jobs) d
   where d.column_name is not null limit 1
$$;
comment on function postrider_internal.find_client_defect(postrider_internal.client_jobs[]) is
  'the first column in which the rows of an INSERT exceed a limit of their roles; without one, records the rows';
