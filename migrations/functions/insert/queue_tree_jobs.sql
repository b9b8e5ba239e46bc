-- SPDX-License-Identifier: Apache-2.0
-- Inserts tree rows for new batches, chains and members. The end of the transaction begins them (trees_begin).
--
-- p_jobs: all of them. p_parents, p_creators and p_members: each parent, the role that inserted members of it, and its
-- first member. They are passed because queue_new_jobs has them in its new rows: reading 1,000 members from jobs by
-- their ids takes 1.4 ms.
create or replace function postrider_internal.queue_tree_jobs(
  p_jobs bigint[], p_parents bigint[], p_creators text[], p_members bigint[],
  out code text, out column_name text, out message text, out hint text, out job_id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_detail text;
begin
  perform postrider_internal.raise_foreign_parent(p.parent_id, p.created_by, p.member_id)
     from unnest(p_parents, p_creators, p_members) p (parent_id, created_by, member_id);
  perform postrider_internal.insert_tree_rows(p_jobs);
  -- Checks again, after the parents are locked. A parent that another transaction was inserting was not visible
  -- above. Since then, this transaction has waited for the first member of the parent that took a position.
  perform postrider_internal.raise_foreign_parent(p.parent_id, p.created_by, p.member_id)
     from unnest(p_parents, p_creators, p_members) p (parent_id, created_by, member_id);
exception when sqlstate 'PR001' or sqlstate 'PR005' then
  get stacked diagnostics code = returned_sqlstate, column_name = column_name, message = message_text,
    hint = pg_exception_hint, v_detail = pg_exception_detail;
  job_id := substring(v_detail from '^[0-9]+$');
end
$$;
comment on function postrider_internal.queue_tree_jobs(bigint[], bigint[], text[], bigint[]) is
  'inserts tree rows for new batches, chains and members; returns the error of the first that breaks a rule';
