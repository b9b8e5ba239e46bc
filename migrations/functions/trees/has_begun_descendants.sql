-- SPDX-License-Identifier: Apache-2.0
-- after: trees/descendants.sql
-- planner: no-jit, no-seqscan, nested-loops
-- A job that was handed back before its call, or that ended without a call, was not called.
create or replace function postrider_internal.has_begun_descendants(p_tree bigint) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from unnest(postrider_internal.descendants(p_tree)) as b(id)
     cross join lateral (select x.job_id from postrider_internal.members x
                         where x.parent_id = b.id and not x.is_waiting offset 0) m
     where exists (select from postrider_internal.ready r where r.job_id = m.job_id and r.seq <> r.job_id
                   and r.worker > 0 offset 0)
        or exists (select from postrider_internal.past_attempts x where x.job_id = m.job_id offset 0)
        or exists (select from postrider_internal.fetched_pages p where p.job_id = m.job_id offset 0)
        -- A batch or chain has a start even if none of its members was called.
        or not exists (select from postrider_internal.trees t where t.job_id = m.job_id offset 0)
           and (exists (select from postrider_internal.results r
                        where r.job_id = m.job_id and r.started_at is not null offset 0)
                or exists (select from postrider_internal.outcomes o
                           where o.job_id = m.job_id and o.started_at is not null offset 0)))
$$;
comment on function postrider_internal.has_begun_descendants(bigint) is
  'whether any job below a batch or chain was called or is being called';
