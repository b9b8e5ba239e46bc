-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Inserts the rows of trees and members for new jobs. Parents have lower ids than their members, also within one
-- statement. FOR KEY SHARE on the parent lets it go on counting, but it cannot end before this transaction commits.
create or replace function postrider_internal.insert_tree_rows(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job record;
  v_tree postrider_internal.trees;
  v_group record;
begin
  -- Locks all parents at once, in the same order as cancel_all.
  perform from (select distinct j.parent_id from postrider.jobs j where j.id = any (p_jobs) order by j.parent_id) p
    cross join lateral (select from postrider_internal.trees t where t.job_id = p.parent_id for key share) t;
  for v_job in
    select j.id, j.kind, j.parent_id, j.mode, j.max_parallel, j.run_at, j.expires_at,
           postrider_internal.has_callbacks(j) as has_callbacks
      from postrider.jobs j
     where j.id = any (p_jobs) and j.kind <> 'request'
     order by j.id
  loop
    v_tree := null;
    if v_job.parent_id is not null then
      v_tree := postrider_internal.lock_parent(v_job.parent_id, v_job.id);
      if v_tree.depth >= 32 then
        raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'parent_id',
          message = 'jobs.parent_id: batches and chains nest 32 deep at most', detail = v_job.id::text,
          hint = 'Reduce the nesting.';
      end if;
    end if;
    insert into postrider_internal.trees (
      job_id, parent_id, root_id, depth, kind, mode, has_callbacks, max_parallel, run_at, expires_at)
    values (v_job.id, v_job.parent_id, coalesce(v_tree.root_id, v_job.id), coalesce(v_tree.depth + 1, 1),
            left(v_job.kind, 1)::"char",
            left(v_job.mode, 1)::"char", v_job.has_callbacks, v_job.max_parallel, greatest(v_job.run_at, v_tree.run_at),
            least(v_job.expires_at, v_tree.expires_at));
  end loop;

  perform postrider_internal.assign_positions(p_jobs);

  for v_group in
    select m.parent_id, count(*)::int as added, min(m.position) as lowest,
           min(m.job_id) as first, min(m.job_id) filter (where j.run_if is not null) as first_run_if,
           (array_agg(m.job_id order by m.position))[1] as lowest_job
      from unnest(p_jobs) as u(id)
     cross join lateral (select x.job_id, x.parent_id, x.position from postrider_internal.members x
                         where x.job_id = u.id offset 0) m
     cross join lateral (select x.run_if from postrider.jobs x where x.id = u.id offset 0) j
     group by m.parent_id
     order by m.parent_id
  loop
    v_tree := postrider_internal.lock_parent(v_group.parent_id, v_group.first);
    if v_group.first_run_if is not null and v_tree.kind <> 'c' then
      raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'run_if',
        message = 'jobs.run_if: is for steps of a chain', detail = v_group.first_run_if::text,
        hint = 'Leave it out, or insert a chain as the member and give run_if to its step.';
    end if;
    if v_group.lowest <= v_tree.reached then
      raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'position',
        message = format('jobs.position: %s %s has already passed position %s',
          postrider_internal.kind_name(v_tree.kind), v_group.parent_id, v_group.lowest),
        detail = v_group.lowest_job::text,
        hint = 'Leave it out for the next free one.';
    end if;
    if v_tree.is_counted then
      insert into postrider_internal.tree_deltas (tree_id, run, added, lowest)
      values (v_group.parent_id, v_tree.run, v_group.added, v_group.lowest);
      perform postrider_internal.notify_idle_workers();
    end if;
  end loop;
end
$$;
comment on function postrider_internal.insert_tree_rows(bigint[]) is
  'registers new batches and chains and gives members their positions; raises PR005 if a parent has ended';
