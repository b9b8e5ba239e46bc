-- SPDX-License-Identifier: Apache-2.0
-- The caller holds the tree's row, so nothing of it is let go meanwhile. What has been called, and what somebody is just claiming,
-- goes on. A member or an inner tree whose time is not the tree's, since its own is later or a person gave it another, keeps it.
create or replace function postrider.reschedule_tree(p_tree bigint, p_run_at timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_before constant timestamptz := (select t.run_at from postrider.trees t where t.job_id = p_tree);
  v_inner record;
begin
  update postrider.trees t set run_at = p_run_at where t.job_id = p_tree;
  with planned as materialized (
    select s.spot, greatest(j.run_at, p_run_at) as at
      from postrider.members m
     cross join lateral (select x.run_at from postrider.jobs x where x.id = m.job_id offset 0) j
     cross join lateral (
           select x.ctid as spot, x.run_at, x.attempt from postrider.scheduled x where x.job_id = m.job_id for update skip locked) s
     where m.parent_id = p_tree and not m.is_waiting and s.attempt = m.attempt and s.run_at = greatest(j.run_at, v_before))
  update postrider.scheduled s set run_at = p.at from planned p where s.ctid = p.spot and s.run_at <> p.at;
  if p_run_at > now() then
    with held as materialized (
      select r.spot
        from postrider.members m
       cross join lateral (
             select x.ctid as spot, x.attempt from postrider.ready x
              where x.job_id = m.job_id and x.seq <> x.job_id and x.worker = 0 for update skip locked) r
       where m.parent_id = p_tree and not m.is_waiting and r.attempt = m.attempt),
    gone as (
      delete from postrider.ready r using held h where r.ctid = h.spot returning r.*)
    insert into postrider.scheduled (
      run_at, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, is_followed)
    select p_run_at, g.job_id, g.track, g.attempt, g.max_attempts, g.rekey, g.at_most_once, g.expires_at, g.parent_id, g.is_followed
      from gone g;
  end if;
  for v_inner in
    select t.job_id, greatest(j.run_at, p_run_at) as at
      from postrider.trees t
     cross join lateral (select x.run_at from postrider.jobs x where x.id = t.job_id offset 0) j
     where t.parent_id = p_tree and t.state in ('w', 'o') and t.run_at = greatest(j.run_at, v_before)
     order by t.job_id
       for no key update of t
  loop
    perform postrider.reschedule_tree(v_inner.job_id, v_inner.at);
  end loop;
end
$$;
comment on function postrider.reschedule_tree(bigint, timestamptz) is
  'private: gives a batch or chain another run_at, and with it all below that has that time of it and was never called';
