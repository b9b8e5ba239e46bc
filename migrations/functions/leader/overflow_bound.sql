-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.overflow_bound(out bound bigint, out is_proven boolean)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select substring(pg_get_constraintdef(j.oid) from E'< ''?([0-9]+)')::bigint, j.convalidated and r.convalidated
    from pg_constraint j
    join pg_constraint r on r.conrelid = 'postrider_internal.results_overflow'::regclass
      and r.conname = 'results_overflow_ends'
   where j.conrelid = 'postrider_internal.jobs_overflow'::regclass and j.conname = 'jobs_overflow_ends'
$$;
comment on function postrider_internal.overflow_bound() is
  'the id that bounds the overflow partitions by CHECK, and whether the CHECKs are validated; nulls: no CHECK';
