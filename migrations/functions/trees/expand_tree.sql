-- SPDX-License-Identifier: Apache-2.0
-- Handles elements with about 250 jobs at a time, which takes some tenths of a second. Other trees and other duties of
-- the leader run in between. No member begins before all members exist.
create or replace function postrider_internal.expand_tree(p_tree bigint,
                                                          p_mode postrider_internal.duty_mode) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider_internal.trees;
  v_items jsonb;
  v_defect text;
  v_from int;
  v_to int;
  v_jobs int;
  v_code text := 'template';
begin
  select x.* into v_tree from postrider_internal.trees x
   where x.job_id = p_tree and x.is_expanding and x.state = 'o' for no key update skip locked;
  if not found then
    -- The row is locked at this moment. The delta makes settle try again.
    insert into postrider_internal.tree_deltas (tree_id, run)
    select t.job_id, t.run from postrider_internal.trees t where t.job_id = p_tree and t.is_expanding and t.state = 'o';
    return;
  end if;
  begin
    select e.items, e.defect, postrider_internal.requests_per_element(j.each) into v_items, v_defect, v_jobs
      from postrider.jobs j
     cross join lateral postrider_internal.each_list(j, postrider_internal.is_cheap_mode(p_mode)) e
     where j.id = p_tree;
  exception when query_canceled then
    if p_mode <> 'judge' then
      raise;
    end if;
    v_defect := postrider_internal.too_expensive('each');
    v_code := 'too_expensive';
  end;
  v_from := coalesce(v_tree.expanded, 0);
  v_to := least(v_from + greatest(1, 250 / v_jobs), jsonb_array_length(v_items));
  if v_defect is null then
    v_defect := postrider_internal.try_expand(p_tree, jsonb_path_query_array(
      v_items, '$[$from to $to]', jsonb_build_object('from', v_from, 'to', v_to - 1)));
  end if;
  if v_defect is not null then
    perform postrider_internal.end_tree(v_tree, 'f', v_code, v_defect);
    return;
  end if;
  update postrider_internal.trees t
     set is_expanding = v_to < jsonb_array_length(v_items),
         expanded = case when v_to < jsonb_array_length(v_items) then v_to end
   where t.job_id = p_tree
  returning * into v_tree;
  if v_tree.is_expanding then
    insert into postrider_internal.tree_deltas (tree_id, run, is_expensive) values (p_tree, v_tree.run,
        p_mode = 'judge');
  end if;
end
$$;
comment on function postrider_internal.expand_tree(bigint, postrider_internal.duty_mode) is
  'inserts the next members of a batch over a long list, outside of the transaction that began it';
