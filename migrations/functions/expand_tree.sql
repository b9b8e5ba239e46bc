-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.expand_tree(p_tree bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider.trees;
  v_items jsonb;
  v_defect text;
begin
  update postrider.trees t set is_expanding = false
   where t.ctid = (select x.ctid from postrider.trees x
                    where x.job_id = p_tree and x.is_expanding and x.state = 'o' for no key update skip locked)
  returning * into v_tree;
  if not found then
    -- Held by somebody at this moment: settle looks again.
    insert into postrider.tree_deltas (tree_id, run)
    select t.job_id, t.run from postrider.trees t where t.job_id = p_tree and t.is_expanding and t.state = 'o';
    return;
  end if;
  select e.items, e.defect into v_items, v_defect
    from postrider.jobs j cross join lateral postrider.each_list(j) e where j.id = p_tree;
  if v_defect is null then
    v_defect := postrider.expand_defect(p_tree, v_items);
  end if;
  if v_defect is not null then
    perform postrider.end_tree(v_tree, 'f', 'template', v_defect);
  end if;
end
$$;
comment on function postrider.expand_tree(bigint) is
  'private: makes the members of a batch over a long list, outside of the transaction that began it';
