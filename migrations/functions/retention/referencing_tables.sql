-- SPDX-License-Identifier: Apache-2.0
-- Of a key that a partitioned table has, the one of the table itself.
create or replace function postrider_internal.referencing_tables() returns setof regclass
language sql stable
as $$
  select distinct c.conrelid::pg_catalog.regclass
    from pg_catalog.pg_constraint c
   where c.confrelid in ('postrider.jobs'::pg_catalog.regclass, 'postrider_internal.results'::pg_catalog.regclass)
     and c.contype = 'f' and c.conparentid = 0
$$;
comment on function postrider_internal.referencing_tables() is
  'tables with a foreign key onto jobs or results: while there is one, PostgreSQL lets no range of ids be dropped';
