-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
create or replace function postrider_internal.take_cache_flights(p_attempts postrider_internal.finished_attempt[])
returns postrider_internal.cache_flights[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_calls postrider_internal.cache_flights[];
begin
  with ended as (
    delete from postrider_internal.cache_flights c
     where c.ctid = any (array(
             select o.ctid
               from unnest(p_attempts) x
               join postrider_internal.cache_flights o on o.job_id = x.job_id and o.fence = x.fence
              order by o.key
                for update of o))
    returning c.*)
  select array_agg(e) into v_calls from ended e;
  return v_calls;
end
$$;
comment on function postrider_internal.take_cache_flights(postrider_internal.finished_attempt[]) is
  'removes the calls in flight that these attempts end, in the order of their keys; returns them, or null';
