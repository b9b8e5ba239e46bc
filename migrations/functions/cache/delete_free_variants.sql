-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- Does not wait for locks, because it runs at the end of a call and in the leader's duties. A locked row is either gone
-- when that transaction ends, or found again. A transaction may also hold it for a newer answer. That answer is deleted
-- too, and the server is called once more.
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
  'removes the entries of these keys and their rows of cache_varies, without waiting for locks';
