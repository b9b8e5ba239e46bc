-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- If p_is_careful and a tree meets the lock of an open transaction, its deltas wait a second. An attempt makes up to
-- 250 members before it meets that lock, and then rolls them back.
--
-- A shortage of the database delays the deltas longer each time, up to 30 s. If one tree meets shortages for 15 minutes
-- although this statement commits each time, that tree fails.
--
-- p_one_tree: only the deltas of the first tree, which then has the whole time of the statement. The judging session
-- handles deltas that raise PR016. It names the tree in p_tree and adds all its expensive deltas.
create or replace function postrider_internal.settle_deltas(
  p_after bigint, p_mode postrider_internal.duty_mode, p_is_careful boolean, p_one_tree boolean default false,
  p_tree bigint default null, out latest bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sum record;
  v_is_expanding boolean;
  v_must_fail boolean;
  v_spots tid[];
begin
  if p_tree is null then
    v_spots := array(
      select x.ctid from postrider_internal.tree_deltas x
        where x.id > p_after and not x.is_expensive and (x.due_at <= now()) is not false
         and (not p_one_tree or x.tree_id = (
                select y.tree_id from postrider_internal.tree_deltas y
                 where y.id > p_after and not y.is_expensive and (y.due_at <= now()) is not false
                 order by y.id limit 1))
       order by x.id limit 10000 for update skip locked);
  else
    v_spots := array(
      select x.ctid from postrider_internal.tree_deltas x
        where x.tree_id = p_tree and x.is_expensive and (x.due_at <= now()) is not false
       for update skip locked);
  end if;
  for v_sum in
    with gone as (
      delete from postrider_internal.tree_deltas d where d.ctid = any (v_spots)
      returning d.*)
    select g.tree_id, g.run, sum(g.added)::int as added, min(g.lowest) as lowest, sum(g.released)::int as released,
           sum(g.finished)::int as finished, sum(g.failed)::int as failed, sum(g.succeeded)::int as succeeded,
           max(g.id) as latest,
           max(g.due_at) filter (where g.refused_since is null) is not null as was_delayed,
           min(g.refused_since) as refused_since,
           (array_agg(g.failed_job_id order by g.id) filter (where g.failed_job_id is not null))[1] as failed_job
      from gone g
     group by g.tree_id, g.run
     order by g.tree_id desc, g.run
  loop
    latest := greatest(latest, v_sum.latest);
    v_is_expanding := exists (
      select from postrider_internal.trees t where t.job_id = v_sum.tree_id and t.is_expanding and t.state = 'o');
    if not p_is_careful then
      if v_is_expanding then
        perform postrider_internal.expand_tree(v_sum.tree_id, p_mode);
      end if;
      perform postrider_internal.settle_tree(
        v_sum.tree_id, v_sum.run, p_mode, v_sum.added, v_sum.lowest, v_sum.released, v_sum.finished, v_sum.failed,
        v_sum.succeeded, v_sum.failed_job);
      continue;
    end if;
    begin
      if v_is_expanding then
        perform postrider_internal.expand_tree(v_sum.tree_id, p_mode);
      end if;
      perform postrider_internal.settle_tree(
        v_sum.tree_id, v_sum.run, p_mode, v_sum.added, v_sum.lowest, v_sum.released, v_sum.finished, v_sum.failed,
        v_sum.succeeded, v_sum.failed_job);
    exception when query_canceled or others then
      if sqlstate = '57014' and not p_one_tree then
        raise;
      end if;
      v_must_fail := case
        when sqlstate = '57014' then v_sum.was_delayed
        when sqlstate = 'PR016' then false
        -- A lock lasts as long as the transaction that holds it.
        when left(sqlstate, 2) in ('40', '55') then false
        else not postrider_internal.is_shortage(sqlstate)
          or coalesce(v_sum.refused_since < clock_timestamp() - interval '15 min', false) end;
      insert into postrider_internal.tree_deltas (
        tree_id, run, added, lowest, released, finished, failed, succeeded, failed_job_id, is_expensive, due_at,
        refused_since)
      values (v_sum.tree_id, v_sum.run, v_sum.added, v_sum.lowest, v_sum.released, v_sum.finished, v_sum.failed,
              v_sum.succeeded,
              v_sum.failed_job, p_tree is not null or sqlstate = 'PR016', case
                when not v_must_fail and sqlstate <> 'PR016'
                then clock_timestamp() + case when sqlstate = '57014' then interval '10 s'
                       when left(sqlstate, 2) in ('40', '55') then interval '1 s'
                       else least(interval '30 s', greatest(interval '0.25 s',
                                                            clock_timestamp() - v_sum.refused_since)) end end,
              case when not v_must_fail and left(sqlstate, 2) not in ('40', '55')
                and sqlstate not in ('57014', 'PR016') then coalesce(v_sum.refused_since, clock_timestamp()) end);
      if v_must_fail then
        perform postrider_internal.fail_broken_tree(v_sum.tree_id, case when sqlstate = '57014' and p_tree is not null
                                                    then 'too_expensive' else 'internal' end, case
          when sqlstate = '57014' and p_tree is not null
            then 'its next step takes longer to prepare than settings.judge_timeout; make the answers that it reads smaller'
          when sqlstate = '57014' then 'its next step takes longer to prepare than 6 s; make its run_if or the answers that it reads smaller'
          else format('%s (%s)', sqlerrm, sqlstate) end);
      end if;
    end;
  end loop;
end
$$;
comment on function postrider_internal.settle_deltas(bigint, postrider_internal.duty_mode, boolean, boolean, bigint) is
  'adds the deltas after p_after for settle; p_is_careful: each tree in a savepoint; p_one_tree: one tree';
