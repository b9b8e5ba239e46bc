-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
create or replace function postrider_internal.descendants(p_tree bigint) returns bigint[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive below as (
    select p_tree as id
    union all
    select t.job_id from below b
     cross join lateral (
           select x.job_id from postrider_internal.trees x where x.parent_id = b.id offset 0) t)
  select array_agg(b.id) from below b
$$;
comment on function postrider_internal.descendants(bigint) is
  'the ids of a batch or chain and of all batches and chains in it, to any depth';
