-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.count_members(p_tree bigint) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update postrider_internal.trees t
     set is_counted = true, children = (select count(*) from postrider_internal.members m where m.parent_id = p_tree)
   where t.job_id = p_tree and not t.is_counted
$$;
comment on function postrider_internal.count_members(bigint) is
  'counts the members inserted together with a batch or chain; members that join later write a delta';
