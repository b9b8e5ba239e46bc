-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- Waits for nobody: a call's end and the leader's second come first. A row that another transaction holds is either
-- gone when that ends, or found again. What holds it may also be a newer answer: that goes too, and is asked for once
-- more.
create or replace function postrider_internal.delete_free_variants(p_keys bytea[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from postrider_internal.cache_varies v
   where v.ctid = any (array(
           select o.ctid from postrider_internal.cache_varies o where o.key = any (p_keys)
             order by o.key for update skip locked));
  perform postrider_internal.delete_free_cache_entries(p_keys, true);
end
$$;
comment on function postrider_internal.delete_free_variants(bytea[]) is
  'removes the entries of these keys, and what tells their variants apart, as far as nobody holds them';
