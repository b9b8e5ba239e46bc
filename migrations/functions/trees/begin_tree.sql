-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
create or replace function postrider_internal.begin_tree(p_tree bigint, p_is_inner boolean default false) returns "char"
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider_internal.trees;
  v_job postrider.jobs;
  v_items jsonb;
  v_defect text;
  v_code text;
  v_mode text := postrider_internal.duty_mode();
  v_is_left boolean := false;
begin
  select j.* into v_job from postrider.jobs j where j.id = p_tree and j.each is not null;
  -- A retried batch already has the members of its elements. Or expand refused one of them, and the batch goes on
  -- there.
  if found and exists (
       select from postrider_internal.trees t
        where t.job_id = p_tree and t.state = 'w'
          and (t.expanded is not null
               or not exists (select from postrider_internal.members m
                              where m.parent_id = p_tree and m.item is not null))) then
    if v_mode = 'tick' then
      v_is_left := true;
    else
      begin
        select e.items, e.defect into v_items, v_defect from postrider_internal.each_list(v_job) e;
      exception
        when sqlstate 'PR016' then
          v_is_left := true;
        when query_canceled then
          if v_mode <> 'judge' then
            raise;
          end if;
          v_defect := postrider_internal.too_expensive('each');
          v_code := 'too_expensive';
      end;
    end if;
  end if;
  update postrider_internal.trees t
     set state = 'o', started_at = clock_timestamp(), is_counted = true,
         children = case when t.is_counted then t.children
                         else (select count(*) from postrider_internal.members m where m.parent_id = p_tree) end,
         is_expanding = v_is_left or coalesce(
           jsonb_array_length(v_items) * postrider_internal.requests_per_element(v_job.each) > 100, false)
   where t.ctid = (select x.ctid from postrider_internal.trees x
                   where x.job_id = p_tree and x.state = 'w' for no key update skip locked)
  returning * into v_tree;
  if not found then
    -- Another transaction is cancelling it and may still roll back. The delta makes settle check again.
    insert into postrider_internal.tree_deltas (tree_id, run)
    select t.job_id, t.run from postrider_internal.trees t where t.job_id = p_tree and t.state = 'w';
    return null;
  elsif v_tree.expires_at <= now() then
    return postrider_internal.end_tree(v_tree, 'e', 'expired', 'not started before expires_at', p_is_inner);
  elsif v_tree.is_expanding or v_mode = 'tick' or p_is_inner and v_tree.children > 100 then
    -- The transaction that finished the step before must not begin thousands of members.
    insert into postrider_internal.tree_deltas (tree_id, run, is_expensive) values (p_tree, v_tree.run, v_is_left
        and v_mode <> 'tick');
    perform postrider_internal.notify_idle_workers();
    return null;
  elsif v_items is not null then
    v_defect := postrider_internal.try_expand(p_tree, v_items);
  end if;
  if v_defect is not null then
    return postrider_internal.end_tree(v_tree, 'f', coalesce(v_code, 'template'), v_defect, p_is_inner);
  end if;
  return postrider_internal.advance_tree(v_tree, p_is_inner);
end
$$;
comment on function postrider_internal.begin_tree(bigint, boolean) is
  'begins a batch or chain whose turn has come; returns its final state if p_is_inner and the caller counts it';
