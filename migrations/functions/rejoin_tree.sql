-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.rejoin_tree(p_job bigint, p_parent bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider.trees;
  v_state "char";
begin
  select * into v_tree from postrider.trees t where t.job_id = p_parent for key share;
  if v_tree.state not in ('w', 'o') then
    raise exception using errcode = 'PR005',
      message = format('job %s belongs to %s %s, which has ended', p_job, case v_tree.kind when 'b' then 'batch' else 'chain' end, p_parent),
      hint = format('Retry the whole: select postrider.retry(%s).', v_tree.root_id);
  end if;
  select r.state into v_state from postrider.results r where r.job_id = p_job;
  if found then
    insert into postrider.tree_deltas (tree_id, finished, failed, succeeded)
    values (p_parent, -1, -(v_state in ('f', 'u', 'e', 'c'))::int, -(v_state = 's')::int);
  end if;
end
$$;
comment on function postrider.rejoin_tree(bigint, bigint) is
  'private: a finished member is to run again: its batch or chain counts it out; refuses one that has ended';
