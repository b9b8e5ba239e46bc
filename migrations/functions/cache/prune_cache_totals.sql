-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- The counters of a service stay while the service exists or has cached entries. Its size is the sum of its rows and of
-- deltas not folded yet, so all its rows go at once or none.
--
-- The leader folds in another session, in any order of rows. Rows that it has locked are skipped. It cannot add to the
-- other rows until this transaction ends, and then inserts new ones.
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
  'removes the counters of deleted services without cached entries; returns how many rows';
