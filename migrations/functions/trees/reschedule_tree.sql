-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Some members have a different time than their tree, because their own run_at is later or a user changed it. They keep
-- it. Jobs that are being claimed or cancelled at this moment are skipped.
--
-- It first locks the trees below, in the order of their ids, as insert_tree_rows does. So it waits for open INSERTs of
-- members and moves these members too.
create or replace function postrider_internal.reschedule_tree(p_tree bigint, p_run_at timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked bigint[];
  v_ids bigint[] := array[p_tree];
  v_trees bigint[];
  v_before timestamptz[];
  v_after timestamptz[];
  v_late record;
begin
  loop
    perform from postrider_internal.trees t where t.job_id = any (v_ids) order by t.job_id for update;
    v_locked := v_ids;
    v_ids := postrider_internal.descendants(p_tree);
    exit when v_ids <@ v_locked;
  end loop;

  with recursive moved as (
    select t.job_id, t.run_at as before, p_run_at as after from postrider_internal.trees t where t.job_id = p_tree
    union all
    select t.job_id, t.run_at, greatest(j.run_at, m.after)
      from moved m
     cross join lateral (
           select x.job_id, x.run_at from postrider_internal.trees x
             where x.parent_id = m.job_id and postrider_internal.is_open_tree(x.state) offset 0) t
     cross join lateral (select x.run_at from postrider.jobs x where x.id = t.job_id offset 0) j
     where t.run_at = greatest(j.run_at, m.before) and t.run_at <> greatest(j.run_at, m.after))
  select array_agg(m.job_id), array_agg(m.before), array_agg(m.after) into v_trees, v_before, v_after from moved m;

  select j.id, j.expires_at into v_late
    from unnest(v_trees, v_before, v_after) as t(id, before, after)
   cross join lateral (select x.job_id from postrider_internal.members x where x.parent_id = t.id offset 0) m
   cross join lateral (select x.id, x.run_at, x.expires_at from postrider.jobs x where x.id = m.job_id offset 0) j
   where j.expires_at > now() and j.expires_at <= greatest(j.run_at, t.after)
   limit 1;
  if found then
    raise exception using errcode = 'PR001', column = 'run_at',
      message = format('run_at: must be before %2$s, the expires_at of job %1$s, which is a part of it', v_late.id,
                       v_late.expires_at),
      hint = 'Give an earlier time, or insert new jobs with a later expires_at.';
  end if;

  update postrider_internal.trees t set run_at = u.after from unnest(v_trees, v_after) as u(id, after)
    where t.job_id = u.id;
  with planned as materialized (
    select s.spot, greatest(j.run_at, t.after) as at
      from unnest(v_trees, v_before, v_after) as t(id, before, after)
     cross join lateral (select x.job_id, x.attempt from postrider_internal.members x
                         where x.parent_id = t.id and not x.is_waiting offset 0) m
     cross join lateral (select x.run_at from postrider.jobs x where x.id = m.job_id offset 0) j
     cross join lateral (
           select x.ctid as spot, x.run_at, x.attempt from postrider_internal.scheduled x
             where x.job_id = m.job_id for update skip locked) s
     where s.attempt = m.attempt and s.run_at = greatest(j.run_at, t.before)
       and s.run_at <> greatest(j.run_at, t.after))
  update postrider_internal.scheduled s set run_at = p.at, has_slot = true from planned p where s.ctid = p.spot;
  with held as materialized (
    select r.spot, greatest(j.run_at, t.after) as at
      from unnest(v_trees, v_after) as t(id, after)
     cross join lateral (select x.job_id, x.attempt from postrider_internal.members x
                         where x.parent_id = t.id and not x.is_waiting offset 0) m
     cross join lateral (select x.run_at from postrider.jobs x where x.id = m.job_id offset 0) j
     cross join lateral (
           select x.ctid as spot, x.attempt from postrider_internal.ready x
            where x.job_id = m.job_id and x.seq <> x.job_id and x.worker = 0 for update skip locked) r
     where t.after > now() and r.attempt = m.attempt),
  gone as (
    delete from postrider_internal.ready r using held h where r.ctid = h.spot returning r.*, h.at)
  insert into postrider_internal.scheduled (
    run_at, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, has_callbacks, has_slot)
  select g.at, g.job_id, g.track, g.attempt, g.max_attempts, g.rekey, g.at_most_once, g.expires_at, g.parent_id,
         g.has_callbacks, true
    from gone g;
end
$$;
comment on function postrider_internal.reschedule_tree(bigint, timestamptz) is
  'gives a batch or chain another run_at, and all jobs below that inherited it';
