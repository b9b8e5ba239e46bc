-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.settle_deltas(
  p_after bigint, p_is_careful boolean, out latest bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_sum record;
begin
  for v_sum in
    with gone as (
      delete from postrider.tree_deltas d
       where d.ctid = any (array(
               select x.ctid from postrider.tree_deltas x where x.id > p_after order by x.id limit 10000 for update skip locked))
      returning d.*)
    select g.tree_id, g.run, sum(g.added)::int as added, min(g.lowest) as lowest, sum(g.released)::int as released,
           sum(g.finished)::int as finished, sum(g.failed)::int as failed, sum(g.succeeded)::int as succeeded, max(g.id) as latest,
           (array_agg(g.failed_job_id order by g.id) filter (where g.failed_job_id is not null))[1] as failed_job
      from gone g
     group by g.tree_id, g.run
     order by g.tree_id desc, g.run
  loop
    latest := greatest(latest, v_sum.latest);
    if exists (select from postrider.trees t where t.job_id = v_sum.tree_id and t.is_expanding and t.state = 'o') then
      perform postrider.expand_tree(v_sum.tree_id);
    end if;
    if not p_is_careful then
      perform postrider.settle_tree(v_sum.tree_id, v_sum.run, v_sum.added, v_sum.lowest, v_sum.released, v_sum.finished,
        v_sum.failed, v_sum.succeeded, v_sum.failed_job);
      continue;
    end if;
    begin
      perform postrider.settle_tree(v_sum.tree_id, v_sum.run, v_sum.added, v_sum.lowest, v_sum.released, v_sum.finished,
        v_sum.failed, v_sum.succeeded, v_sum.failed_job);
    exception when others then
      insert into postrider.tree_deltas (tree_id, run, added, lowest, released, finished, failed, succeeded, failed_job_id)
      values (v_sum.tree_id, v_sum.run, v_sum.added, v_sum.lowest, v_sum.released, v_sum.finished, v_sum.failed, v_sum.succeeded,
              v_sum.failed_job);
      perform postrider.blame_tree(v_sum.tree_id, format('%s (%s)', sqlerrm, sqlstate));
    end;
  end loop;
end
$$;
comment on function postrider.settle_deltas(bigint, boolean) is
  'private: the part of settle that adds up the deltas after p_after; p_is_careful: each tree in a savepoint';
