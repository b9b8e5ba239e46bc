-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.job_ranges()
returns table (part text, first_id bigint, end_id bigint)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select substring(c.relname from '^jobs_(.*)$'),
         substring(pg_get_expr(c.relpartbound, c.oid) from E'FROM \\(''?([0-9]+)')::bigint,
         substring(pg_get_expr(c.relpartbound, c.oid) from E'TO \\(''?([0-9]+)')::bigint
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'postrider.jobs'::regclass
   order by 3 nulls last
$$;
comment on function postrider_internal.job_ranges() is
  'partitions of jobs and results: name suffix, first id (null: any), id after the last; overflow last, without ids';
