-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- p_after: rows up to this id were taken and are dead, as in fold. 0: all rows.
create or replace function postrider_internal.take_unreported_ends(p_worker int, p_epoch bigint, p_after bigint,
                                                                   p_limit int)
returns table (latest bigint, queue text, service text, state text, jobs bigint)
language sql
set search_path = pg_catalog, pg_temp
as $$
  with gone as (
    delete from postrider_internal.unreported_ends t
     where t.ctid = any (array(select x.ctid from postrider_internal.unreported_ends x
                                where x.id > p_after and (select postrider_internal.leads(p_worker, p_epoch))
                                order by x.id limit p_limit for update skip locked))
    returning t.*)
  select max(g.id), g.queue, g.service, postrider_internal.state_name(g.state), sum(g.jobs)
    from gone g group by g.queue, g.service, g.state
$$;
comment on function postrider_internal.take_unreported_ends(int, bigint, bigint, int) is
  'leader: removes up to p_limit rows of unreported_ends and returns their sums for its metrics';
