-- SPDX-License-Identifier: Apache-2.0
-- For a key of a partitioned table, only the key of the table itself counts.
create or replace function postrider_internal.referencing_tables() returns setof regclass
language sql stable
as $$
  select distinct c.conrelid::pg_catalog.regclass
    from pg_catalog.pg_constraint c
   where c.confrelid in ('postrider.jobs'::pg_catalog.regclass, 'postrider_internal.results'::pg_catalog.regclass)
     and c.contype = 'f' and c.conparentid = 0
$$;
comment on function postrider_internal.referencing_tables() is
  'tables with a foreign key to jobs or results; while one exists, PostgreSQL refuses to drop a range of ids';
