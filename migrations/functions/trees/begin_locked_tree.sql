-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.begin_locked_tree(p_tree bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parent postrider_internal.trees;
  v_state "char";
begin
  select t.* into v_parent from postrider_internal.trees t
    where t.job_id = (select m.parent_id from postrider_internal.members m where m.job_id = p_tree);
  -- The parent may have ended while the row was locked. Then its end also ends this batch or chain, which never begins.
  if v_parent.state <> 'o' then
    return;
  end if;
  v_state := postrider_internal.begin_member(j, v_parent) from postrider.jobs j where j.id = p_tree;
  if v_state is not null then
    perform postrider_internal.count_ended_members(array[v_parent.job_id], array[p_tree], array[v_state]);
  end if;
end
$$;
comment on function postrider_internal.begin_locked_tree(bigint) is
  'begins a batch or chain whose turn has come but whose row was locked at that moment';
