-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.end_tree(p_tree postrider_internal.trees, p_state "char", p_code text,
                                                       p_error text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end "char" := postrider_internal.close_tree(p_tree, p_state, p_code, p_error);
begin
  if v_end is not null and p_tree.parent_id is not null then
    perform postrider_internal.count_ended_members(array[p_tree.parent_id], array[p_tree.job_id], array[v_end]);
  end if;
end
$$;
comment on function postrider_internal.end_tree(postrider_internal.trees, "char", text, text) is
  'ends a locked batch or chain and the jobs below it, and counts it in its parent';
