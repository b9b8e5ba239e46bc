-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Makes the members of a short list. settle makes the members of a long list (expand_tree). A list that takes long is
-- read by settle or the judging session.
create or replace function postrider_internal.open_tree(
  p_tree bigint, p_mode postrider_internal.duty_mode, out tree postrider_internal.trees,
  out finding postrider_internal.tree_finding, out code text, out error text, out is_expensive boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job postrider.jobs;
  v_items jsonb;
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
    if p_mode = 'tick' then
      v_is_left := true;
    else
      begin
        select e.items, e.defect into v_items, error
          from postrider_internal.each_list(v_job, postrider_internal.is_cheap_mode(p_mode)) e;
      exception
        when sqlstate 'PR016' then
          v_is_left := true;
        when query_canceled then
          if p_mode <> 'judge' then
            raise;
          end if;
          error := postrider_internal.too_expensive('each');
          code := 'too_expensive';
      end;
    end if;
  end if;
  update postrider_internal.trees t
     set state = 'o', started_at = clock_timestamp(), is_counted = true,
         children = case when t.is_counted then t.children
                         else (select count(*) from postrider_internal.members m where m.parent_id = p_tree) end,
         is_expanding = v_is_left or case
           when v_items is null then false
           else jsonb_array_length(v_items) * postrider_internal.requests_per_element(v_job.each) > 100 end
   where t.ctid = (select x.ctid from postrider_internal.trees x
                   where x.job_id = p_tree and x.state = 'w' for no key update skip locked)
  returning * into tree;
  is_expensive := v_is_left and p_mode <> 'tick';
  if not found then
    -- Another transaction is cancelling it and may still roll back. The delta makes settle check again.
    insert into postrider_internal.tree_deltas (tree_id, run)
    select t.job_id, t.run from postrider_internal.trees t where t.job_id = p_tree and t.state = 'w';
    return;
  elsif tree.expires_at <= now() then
    finding := 'expired';
    return;
  elsif tree.is_expanding or p_mode = 'tick' or tree.parent_id is not null and tree.children > 100 then
    -- The transaction that finished the step before must not begin thousands of members.
    finding := 'postponed';
    perform postrider_internal.notify_idle_workers();
    return;
  elsif v_items is not null then
    error := postrider_internal.try_expand(p_tree, v_items);
  end if;
  finding := 'counted';
  if error is not null then
    finding := 'broken';
    code := coalesce(code, 'template');
  end if;
  is_expensive := p_mode = 'judge';
end
$$;
comment on function postrider_internal.open_tree(bigint, postrider_internal.duty_mode) is
  'opens a batch or chain whose turn has come, with the members of its list; tree null: it is locked or has begun';
