-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- One step of an act on all jobs of a filter: a few hundred ids, in one transaction of the dashboard. A job that cannot
-- take the act is left out and not counted.
--
-- Lock order: first all rows of ready by (track, seq), as in cancel_all. Then the order of the jobs does not matter.
--
-- `retry` runs a member again with the topmost ended batch or chain, each once. Without p_is_sure it is a step of
-- retry_failed. With p_is_sure the user has named the state of the jobs. So it takes each state, and jobs with
-- at_most_once on which the server may have acted.
--
-- `cancel` takes batches and chains first, because they would fail by their cancelled members. p_trees_only: the other
-- jobs follow in later steps.
create or replace function postrider_internal.act_on_jobs(
  p_action text, p_ids bigint[], p_actor text, p_run_at timestamptz, p_is_sure boolean, p_trees_only boolean)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_id bigint;
  v_is_done boolean;
  v_count bigint := 0;
begin
  if p_action not in ('retry', 'cancel', 'reschedule') then
    raise exception using errcode = 'PR001', column = 'action', message = 'action: is unknown',
      hint = 'One of retry, cancel, reschedule.';
  end if;
  if p_action = 'retry' and not p_is_sure then
    return postrider_internal.retry_failed_step(p_ids);
  end if;
  perform from postrider_internal.ready r
    where r.ctid = any (array(
            select f.spot from unnest(p_ids) u (id) cross join lateral postrider_internal.find_ready_row(u.id) f))
    order by r.track, r.seq
      for update;
  for v_id in
    select a.id
      from (select distinct case when p_action = 'retry' and j.parent_id is not null
                                   then postrider_internal.topmost_ended_ancestor(j.id) else j.id end as id
              from unnest(p_ids) u (id) join postrider.jobs j on j.id = u.id
             where j.kind <> 'request' or not p_trees_only) a
     order by exists (select from postrider_internal.trees t where t.job_id = a.id) desc, a.id
  loop
    begin
      if p_action = 'retry' then
        v_is_done := v_id is not null;
        if v_is_done then
          perform postrider.retry(v_id);
        end if;
      elsif p_action = 'reschedule' then
        perform postrider.reschedule(v_id, p_run_at);
        v_is_done := true;
      else
        -- A batch or chain above the job has ended, mostly in an earlier round, and ends this job too.
        v_is_done := not exists (
          with recursive above as (
            select m.parent_id from postrider_internal.members m where m.job_id = v_id
            union all
            select m.parent_id from above a join postrider_internal.members m on m.job_id = a.parent_id)
          select from above a join postrider_internal.trees t on t.job_id = a.parent_id
           where not postrider_internal.is_open_tree(t.state))
          and postrider_internal.cancel_any(v_id, p_actor => p_actor);
      end if;
      v_count := v_count + v_is_done::int;
    exception when sqlstate 'PR001' or sqlstate 'PR003' or sqlstate 'PR004' or sqlstate 'PR005' or unique_violation then
      null;
    end;
  end loop;
  return v_count;
end
$$;
comment on function postrider_internal.act_on_jobs(text, bigint[], text, timestamptz, boolean, boolean) is
  'retries, cancels or reschedules those of the jobs that allow it, and returns how many; a batch or chain counts once';
