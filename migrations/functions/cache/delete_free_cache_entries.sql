-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- Skips locked rows, because the caller may hold rows that come later in the lock order.
create or replace function postrider_internal.delete_free_cache_entries(p_keys bytea[],
    p_is_invalidated boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with gone as (
    delete from postrider.cache_entries e
     where e.ctid = any (array(
             select o.ctid from postrider.cache_entries o where o.key = any (p_keys)
               order by o.key for update skip locked))
    returning e.service, e.bytes)
  insert into postrider_internal.cache_deltas (service, outcome, jobs, entries, bytes)
  select g.service, 'invalidated', case when p_is_invalidated then count(*) else 0 end, -count(*), -sum(g.bytes)
    from gone g group by g.service;
end
$$;
comment on function postrider_internal.delete_free_cache_entries(bytea[], boolean) is
  'removes the entries of these keys without waiting for locks; p_is_invalidated: count them as invalidated';
