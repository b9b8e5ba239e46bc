-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Locks in the order of keys, like sessions that store entries. Those store variants in the order of their base
-- (end_cache_flights).
create or replace function postrider_internal.delete_cache_entries(p_keys bytea[], p_outcome text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count bigint;
begin
  with gone as (
    delete from postrider.cache_entries e
     where e.ctid = any (array(
             select o.ctid from postrider.cache_entries o where o.key = any (p_keys) order by o.key for update))
    returning e.service, e.bytes),
  noted as (
    insert into postrider_internal.cache_deltas (service, outcome, jobs, entries, bytes)
    select g.service, p_outcome, count(*), -count(*), -sum(g.bytes) from gone g group by g.service)
  select count(*) into v_count from gone;
  return v_count;
end
$$;
comment on function postrider_internal.delete_cache_entries(bytea[], text) is
  'removes entries by key, counts them under an outcome, and returns how many';
