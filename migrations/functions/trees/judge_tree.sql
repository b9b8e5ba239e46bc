-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Settles one batch or chain at a time; only one session at a time can lock its rows. Lanes take turns: the next lane
-- is the lane of the first tree behind p_after. A chain has no own lane, so the role that inserted it counts as well.
create or replace function postrider_internal.judge_tree(p_after text, out lane text, out has_more boolean,
                                                         out has_ready boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_seq bigint := (select s.last_value from postrider.jobs_id_seq s);
  v_tree record;
begin
  for v_tree in
    select t.tree_id, k.key
      from (select distinct d.tree_id from postrider_internal.tree_deltas d
             where d.is_expensive and (d.due_at <= now()) is not false order by d.tree_id limit 1000) t
     cross join lateral (select x.created_by, x.lane, x.service from postrider.jobs x where x.id = t.tree_id offset 0) j
     cross join lateral (select concat(j.created_by, ' ', coalesce(j.lane, j.service)) collate "C" as key offset 0) k
     order by k.key <= p_after collate "C", k.key, t.tree_id
  loop
    if postrider_internal.settle_deltas(0, 'judge', true, true, v_tree.tree_id) is not null then
      lane := v_tree.key;
      exit;
    end if;
  end loop;
  has_ready := (select s.last_value from postrider.jobs_id_seq s) > v_seq;
  has_more := lane is not null and exists (
    select from postrider_internal.tree_deltas d where d.is_expensive and (d.due_at <= now()) is not false);
end
$$;
comment on function postrider_internal.judge_tree(text) is
  'settles one tree whose next step is expensive and begins that step; lane null: no such tree, or all are locked';
