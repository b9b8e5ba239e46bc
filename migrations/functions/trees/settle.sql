-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Workers settle what they just finished, starting from the last id they reached. Older rows are dead, and while a
-- transaction stays open for hours they cost time. The leader starts from the beginning, for rows that were committed
-- late or left over.
--
-- A tree that cannot be settled must not block the others. If anything fails, settle repeats all trees one by one, each
-- in its own savepoint, and fails the tree that caused the error.
--
-- A tree that meets an open transaction is tried again a second later. Such a transaction joins a batch over a list at
-- the position of its next element. There may be many such trees, so none waits long.
--
-- p_one_tree: only the deltas of one tree, for use after a statement that took too long. If a tree alone takes too
-- long, it is delayed by 10 s the first time, because the server may have been busy. The second time it fails.
--
-- has_expensive: a judging session must settle trees whose next step is expensive.
create or replace function postrider_internal.settle(
  p_after bigint, p_ends_orphans boolean, p_one_tree boolean default false,
  out latest bigint, out has_more boolean, out has_ready boolean, out has_expensive boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  -- A member that becomes ready takes a new seq. A concurrent INSERT may take one too; then workers check once more
  -- than needed.
  v_seq bigint := (select s.last_value from postrider.jobs_id_seq s);
begin
  if p_one_tree then
    perform postrider_internal.settle_deltas(p_after, 'settle', true, true);
  else
    begin
      latest := postrider_internal.settle_deltas(p_after, 'settle', false);
    exception when others then
      perform set_config('lock_timeout', '10ms', true);
      latest := postrider_internal.settle_deltas(p_after, 'settle', true);
    end;
    if p_ends_orphans then
      perform postrider_internal.drain_trees(5000);
    end if;
  end if;
  has_ready := (select s.last_value from postrider.jobs_id_seq s) > v_seq;
  has_more := exists (select from postrider_internal.tree_deltas d
                      where d.id > coalesce(latest, p_after) and not d.is_expensive
                        and (d.due_at <= now()) is not false);
  has_expensive := exists (select from postrider_internal.tree_deltas d
                           where d.is_expensive and (d.due_at <= now()) is not false);
end
$$;
comment on function postrider_internal.settle(bigint, boolean, boolean) is
  'adds the deltas since p_after and releases members or ends trees; p_ends_orphans: also ends jobs left below ended trees';
