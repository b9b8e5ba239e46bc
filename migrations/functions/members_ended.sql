-- SPDX-License-Identifier: Apache-2.0
-- A batch is told by a delta: its row is shared by all that end in it. A chain has one step under way, so it is settled
-- here, and its next step is ready when the step before is finished.
create or replace function postrider.members_ended(p_tree bigint[], p_job bigint[], p_state "char"[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_sum record;
begin
  for v_sum in
    select m.tree, t.kind, count(*)::int as finished, (count(*) filter (where m.state in ('f', 'u', 'e', 'c')))::int as failed,
           (count(*) filter (where m.state = 's'))::int as succeeded,
           (array_agg(m.job) filter (where m.state in ('f', 'u', 'e', 'c')))[1] as failed_job
      from unnest(p_tree, p_job, p_state) as m(tree, job, state)
      join postrider.trees t on t.job_id = m.tree
     group by m.tree, t.kind
  loop
    if v_sum.kind = 'c' then
      perform postrider.settle_tree(
        v_sum.tree, 0, 0, v_sum.finished, v_sum.failed, v_sum.succeeded, v_sum.failed_job);
    else
      insert into postrider.tree_deltas (tree_id, finished, failed, succeeded, failed_job_id)
      values (v_sum.tree, v_sum.finished, v_sum.failed, v_sum.succeeded, v_sum.failed_job);
    end if;
  end loop;
end
$$;
comment on function postrider.members_ended(bigint[], bigint[], "char"[]) is
  'private: tells batches and chains that members have ended, and in which state';
