-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- A service's counters stay for as long as it is there or something of it is cached. What is held is the sum of its
-- rows and of what is not folded yet, so all of them go at once or none.
--
-- The leader folds in another session, in any order of rows: those that it is at are skipped. The others it cannot add
-- to until this is over, and then begins new ones.
create or replace function postrider_internal.prune_cache_totals() returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows tid[];
  v_count bigint;
begin
  v_rows := array(
    select t.ctid
      from postrider_internal.cache_totals t
     where t.service <> '' and not exists (select from postrider.services s where s.name = t.service)
       for update skip locked);
  if v_rows = '{}' then
    return 0;
  end if;
  delete from postrider_internal.cache_totals t
   where t.ctid = any (v_rows)
     and t.service in (
           select x.service
             from postrider_internal.cache_totals x
            where not exists (select from postrider_internal.cache_deltas c where c.service = x.service)
            group by x.service
           having bool_and(x.ctid = any (v_rows)) and sum(x.entries) = 0 and sum(x.bytes) = 0);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function postrider_internal.prune_cache_totals() is
  'removes the counters of services that were deleted and have nothing in the cache; how many rows went';
