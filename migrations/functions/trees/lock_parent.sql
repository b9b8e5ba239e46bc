-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.lock_parent(p_parent bigint,
                                                          p_job bigint) returns postrider_internal.trees
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider_internal.trees;
begin
  select * into v_tree from postrider_internal.trees t where t.job_id = p_parent for key share;
  if not found then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'parent_id',
      message = case when exists (select from postrider.jobs j where j.id = p_parent)
        then format('jobs.parent_id: job %s is a request and has no members', p_parent)
        else format('jobs.parent_id: job %s does not exist', p_parent) end, detail = p_job::text,
      hint = 'Insert the batch or chain first and give its id.';
  elsif not postrider_internal.is_open_tree(v_tree.state) then
    raise exception using errcode = 'PR005', schema = 'postrider', table = 'jobs', column = 'parent_id',
      message = format('jobs.parent_id: %s %s has ended (%s)', postrider_internal.kind_name(v_tree.kind),
        p_parent, postrider_internal.state_name(v_tree.state)), detail = p_job::text,
      hint = 'Members can join only before it has ended; insert a new batch or chain.';
  end if;
  return v_tree;
end
$$;
comment on function postrider_internal.lock_parent(bigint, bigint) is
  'locks and returns the row of a batch or chain for new members; raises PR005 if it has ended';
