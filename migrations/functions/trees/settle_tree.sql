-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.settle_tree(
  p_tree bigint, p_run int, p_mode postrider_internal.duty_mode, p_added int default 0, p_lowest int default null,
  p_released int default 0, p_finished int default 0, p_failed int default 0, p_succeeded int default 0,
  p_failed_job bigint default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end postrider_internal.ended_member := postrider_internal.count_in_tree(
    p_tree, p_run, p_mode, p_added, p_lowest, p_released, p_finished, p_failed, p_succeeded, p_failed_job);
begin
  if v_end.tree_id is not null then
    perform postrider_internal.count_ended_members(array[v_end.tree_id], array[v_end.job_id], array[v_end.state]);
  end if;
end
$$;
comment on function postrider_internal.settle_tree(
  bigint, int, postrider_internal.duty_mode, int, int, int, int, int, int, bigint) is
  'adds counts to a batch or chain and lets it go on; if it ends, counts that in its parent';
