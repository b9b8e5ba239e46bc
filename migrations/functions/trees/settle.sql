-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Workers settle what they have just finished, with the id they had come to (what lies before is dead, and stays in the
-- way under a transaction held open for hours); the leader comes from the beginning, for what was committed late or
-- left behind.
--
-- One tree that cannot be settled must not hold up the others: when anything fails, all is done again tree by tree,
-- each in a savepoint of its own, and the one to blame ends as failed. One that meets a client's open transaction
-- (which joins a batch over a list, at the place of its next element) is tried again a second later; there may be many,
-- so none of them waits long.
--
-- p_is_alone: the deltas of one tree only, for after a look that took too long. What takes too long by itself is put
-- off for 10 s the first time, since the server may have been busy, and ends as failed the second time. has_expensive:
-- a judging session is to take trees whose next step is expensive.
create or replace function postrider_internal.settle(
  p_after bigint, p_is_whole boolean, p_is_alone boolean default false,
  out latest bigint, out has_more boolean, out has_ready boolean, out has_expensive boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  -- A member that becomes ready takes a fresh seq. So may an INSERT beside it; then workers look once too often.
  v_seq bigint := (select s.last_value from postrider.jobs_id_seq s);
begin
  perform set_config('postrider.is_told', 'settle', true);
  if p_is_alone then
    perform postrider_internal.settle_deltas(p_after, true, true);
  else
    begin
      latest := postrider_internal.settle_deltas(p_after, false);
    exception when others then
      perform set_config('lock_timeout', '10ms', true);
      latest := postrider_internal.settle_deltas(p_after, true);
    end;
    if p_is_whole then
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
  'adds up what has ended in batches since delta p_after and draws the consequences; p_is_whole: also what was left below trees that have ended; the latest delta, whether there are more, and whether members became ready';
