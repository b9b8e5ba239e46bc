-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.expand_tree(p_tree postrider.trees) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_list record;
begin
  update postrider.trees t set is_expanding = false
   where t.ctid = (select x.ctid from postrider.trees x
                    where x.job_id = p_tree.job_id and x.is_expanding and x.state = 'o' for no key update skip locked);
  if not found then
    insert into postrider.tree_deltas (tree_id) values (p_tree.job_id);
    return;
  end if;
  select e.items, e.defect into v_list
    from postrider.jobs j cross join lateral postrider.each_list(j) e where j.id = p_tree.job_id;
  if v_list.defect is not null then
    select * into p_tree from postrider.trees t where t.job_id = p_tree.job_id;
    perform postrider.end_tree(p_tree, 'f', 'template', v_list.defect);
  else
    perform postrider.expand(p_tree.job_id, v_list.items);
  end if;
end
$$;
comment on function postrider.expand_tree(postrider.trees) is
  'private: makes the members of a batch over a long list, outside of the transaction that began it';
