-- SPDX-License-Identifier: Apache-2.0
-- Workers settle what they have just finished, with the id they had come to (what lies before is dead, and stays in the way
-- under a transaction held open for hours); the leader comes from the beginning, for what was committed late or left behind.
create or replace function postrider.settle(p_after bigint, p_is_whole boolean, out latest bigint, out settled int)
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_sums record;
  v_tree postrider.trees;
  v_below record;
begin
  settled := 0;
  for v_sums in
    with gone as (
      delete from postrider.tree_deltas d
       where d.ctid = any (array(
               select x.ctid from postrider.tree_deltas x where x.id > p_after order by x.id limit 10000 for update skip locked))
      returning d.*)
    select g.tree_id, sum(g.added)::int as added, sum(g.released)::int as released, sum(g.finished)::int as finished,
           sum(g.failed)::int as failed, sum(g.succeeded)::int as succeeded, max(g.id) as latest,
           (array_agg(g.failed_job_id order by g.id) filter (where g.failed_job_id is not null))[1] as failed_job
      from gone g
     group by g.tree_id
     order by g.tree_id desc
  loop
    perform postrider.expand_tree(t) from postrider.trees t where t.job_id = v_sums.tree_id and t.is_expanding;
    perform postrider.settle_tree(v_sums.tree_id, v_sums.added, v_sums.released, v_sums.finished, v_sums.failed,
      v_sums.succeeded, v_sums.failed_job);
    latest := greatest(latest, v_sums.latest);
    settled := settled + 1;
  end loop;
  if p_is_whole then
    for v_tree in
      select t.* from postrider.trees t where t.is_draining order by t.job_id limit 100 for no key update skip locked
    loop
      select * into v_below from postrider.end_below(v_tree.job_id, case
        when v_tree.state = 'k' or v_tree.kind = 'c' and v_tree.state = 'f' then 'k' else 'c' end::"char");
      update postrider.trees t
         set is_draining = v_below.remaining > 0, released = t.released + v_below.released, finished = t.finished + v_below.ended
       where t.job_id = v_tree.job_id;
    end loop;
  end if;
end
$$;
comment on function postrider.settle(bigint, boolean) is
  'private: adds up what has ended in batches since delta p_after and draws the consequences; p_is_whole: also what was left below trees that have ended; the latest delta, and how many trees were looked at';
