-- SPDX-License-Identifier: Apache-2.0
-- Makes the rows of trees and members for jobs just inserted. Parents have lower ids than their members, also within one
-- statement. FOR KEY SHARE on the parent's row: it goes on counting meanwhile, but cannot end before this commits.
create or replace function postrider.plant(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_job record;
  v_tree postrider.trees;
  v_group record;
  v_constraint text;
begin
  for v_job in
    select j.id, j.kind, j.parent_id, j.mode, j.max_parallel, j.run_at, j.expires_at, postrider.job_is_followed(j) as is_followed
      from postrider.jobs j
     where j.id = any (p_jobs) and j.kind <> 'request'
     order by j.id
  loop
    v_tree := null;
    if v_job.parent_id is not null then
      v_tree := postrider.join_tree(v_job.parent_id);
      if v_tree.depth >= 32 then
        raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'parent_id',
          message = 'jobs.parent_id: batches and chains nest 32 deep at most', hint = 'Put less into one another.';
      end if;
    end if;
    insert into postrider.trees (
      job_id, parent_id, root_id, depth, kind, mode, is_followed, max_parallel, run_at, expires_at)
    values (v_job.id, v_job.parent_id, coalesce(v_tree.root_id, v_job.id), coalesce(v_tree.depth + 1, 1), left(v_job.kind, 1)::"char",
            left(v_job.mode, 1)::"char", v_job.is_followed, v_job.max_parallel, greatest(v_job.run_at, v_tree.run_at),
            least(v_job.expires_at, v_tree.expires_at));
  end loop;

  for v_group in
    select j.parent_id, array_agg(j.id order by j.id) as ids, max(j.position) as top, bool_or(j.run_if is not null) as has_run_if
      from postrider.jobs j
     where j.id = any (p_jobs) and j.parent_id is not null
     group by j.parent_id
     order by j.parent_id
  loop
    v_tree := postrider.join_tree(v_group.parent_id);
    if v_group.has_run_if and v_tree.kind <> 'c' then
      raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'run_if',
        message = 'jobs.run_if: is for steps of a chain', hint = 'Leave it out of the members of a batch.';
    end if;
    -- A mate of the same moment may take the same position: its commit is waited for, and the next one taken.
    for i in 1 .. 20 loop
      begin
        insert into postrider.members (job_id, parent_id, position, name)
        select j.id, j.parent_id, coalesce(j.position, f.base + row_number() over (order by j.position is not null, j.id)), j.name
          from postrider.jobs j
         cross join (
               select greatest(v_group.top, (select m.position from postrider.members m where m.parent_id = v_group.parent_id
                                              order by m.position desc limit 1), 0) as base) f
         where j.id = any (v_group.ids);
        exit;
      exception when unique_violation then
        get stacked diagnostics v_constraint = constraint_name;
        if v_constraint = 'members_name' then
          raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'name',
            message = format('jobs.name: %s %s has a member of that name already',
              case v_tree.kind when 'b' then 'batch' else 'chain' end, v_group.parent_id),
            hint = 'Names are unique among siblings; templates refer to them.';
        elsif v_group.top is not null or i = 20 then
          raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'position',
            message = format('jobs.position: %s %s has a member at that position already',
              case v_tree.kind when 'b' then 'batch' else 'chain' end, v_group.parent_id),
            hint = 'Leave it out for the next free one.';
        end if;
      end;
    end loop;
    if exists (select from postrider.members m where m.parent_id = v_group.parent_id and m.position <= v_tree.reached
                  and m.job_id = any (v_group.ids)) then
      raise exception using errcode = 'PR001', schema = 'postrider', table = 'jobs', column = 'position',
        message = format('jobs.position: %s %s has come past it', case v_tree.kind when 'b' then 'batch' else 'chain' end,
          v_group.parent_id),
        hint = 'Leave it out for the next free one.';
    end if;
    if v_tree.is_planted then
      insert into postrider.tree_deltas (tree_id, added) values (v_group.parent_id, cardinality(v_group.ids));
      perform postrider.wake();
    end if;
  end loop;
end
$$;
comment on function postrider.plant(bigint[]) is
  'private: makes batches and chains known and gives members their places; refuses parents that have ended';
