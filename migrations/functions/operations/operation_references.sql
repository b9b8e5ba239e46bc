-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.operation_references(p_spec jsonb) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  with recursive nodes (spec) as (
    select p_spec
    union all
    select m.spec
      from nodes n
     cross join lateral (
           select e.value from jsonb_array_elements(
                    case jsonb_typeof(n.spec -> 'chain') when 'array' then n.spec -> 'chain' end) e
            union all
           select e.value from jsonb_array_elements(
                    case jsonb_typeof(n.spec -> 'batch') when 'array' then n.spec -> 'batch' end) e
            union all
           select n.spec -> 'batch' -> 'do' where jsonb_typeof(n.spec -> 'batch') = 'object') m (spec)
     where jsonb_typeof(n.spec) = 'object')
  select array(select distinct n.spec ->> 'operation' from nodes n
                where jsonb_typeof(n.spec) = 'object' and n.spec ? 'operation' order by 1)
$$;
comment on function postrider_internal.operation_references(jsonb) is
  'the operations that the jobs of a spec name';
