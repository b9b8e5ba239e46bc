-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.store_tree_end(
  p_tree postrider_internal.trees, p_state "char", p_code text, p_error text) returns "char"
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not postrider_internal.store_job_end(
       p_tree.job_id, p_state, p_code, p_error, p_tree.parent_id, p_tree.has_callbacks,
       -- The tree was open, but no member has begun.
       p_started => case when p_state <> 'e' and (p_tree.run_at <= now()) is not false then p_tree.started_at end) then
    return p_state;
  end if;
  -- Due after all jobs below it that ended in this transaction and are due now.
  update postrider_internal.outcomes o set due_at = o.due_at + (33 - p_tree.depth) * interval '1 us'
    where o.job_id = p_tree.job_id;
  return null;
end
$$;
comment on function postrider_internal.store_tree_end(postrider_internal.trees, "char", text, text) is
  'stores the end of a batch or chain; returns its state if the caller counts it, null if conclude does';
