-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.begin_locked_tree(
  p_tree postrider_internal.trees, p_mode postrider_internal.duty_mode) returns postrider_internal.ended_member
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parent postrider_internal.trees;
  v_job postrider.jobs;
  v_state "char";
begin
  select t.* into v_parent from postrider_internal.trees t
    where t.job_id = (select m.parent_id from postrider_internal.members m where m.job_id = p_tree.job_id);
  -- The parent may have ended while the row was locked. Then its end also ends this batch or chain, which never begins.
  if v_parent.state <> 'o' then
    return null;
  end if;
  select j.* into v_job from postrider.jobs j where j.id = p_tree.job_id;
  v_state := postrider_internal.begin_member(v_job, v_parent, p_mode);
  if v_state = 'o' then
    return postrider_internal.advance_tree(p_tree, 'due', p_mode);
  elsif v_state is not null then
    return row(v_parent.job_id, p_tree.job_id, v_state)::postrider_internal.ended_member;
  end if;
  return null;
end
$$;
comment on function postrider_internal.begin_locked_tree(postrider_internal.trees, postrider_internal.duty_mode) is
  'begins a batch or chain whose turn has come but whose row was locked at that moment';
