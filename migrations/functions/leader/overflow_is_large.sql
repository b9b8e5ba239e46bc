-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.overflow_is_large() returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select pg_relation_size('postrider_internal.jobs_overflow') + pg_relation_size('postrider_internal.results_overflow')
    > 67108864
$$;
comment on function postrider_internal.overflow_is_large() is
  'whether the overflow partitions exceed 64 MiB, the size that can be read while INSERTs wait';
