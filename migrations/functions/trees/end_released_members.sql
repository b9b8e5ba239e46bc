-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Skips rows that are being claimed, finished or cancelled at this moment. Batches and chains have no rows here.
--
-- The row of a member in ready is never at its first place, because it got its seq when it was released. `offset 0`:
-- the statistics may say that results is empty. Then the planner would walk over all of it for each member.
create or replace function postrider_internal.end_released_members(p_tree bigint, p_limit int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cancelled constant text := format('cancelled: job %s, which contains it, has ended', p_tree);
  v_ids bigint[];
  v_ended int := 0;
  v_aborts bigint;
  v_jobs bigint[];
  v_states "char"[];
  v_has_hooks constant boolean := exists (select from postrider.hooks);
  v_has_limits constant boolean := exists (select from postrider.client_limits);
begin
  select array_agg(u.job_id) into v_ids
    from (select m.job_id
            from postrider_internal.members m
           where m.parent_id = p_tree and not m.is_waiting
             and not exists (select from postrider_internal.results r where r.job_id = m.job_id offset 0)
             and not exists (select from postrider_internal.outcomes o where o.job_id = m.job_id offset 0)
           order by m.position
           limit p_limit) u;
  if v_ids is not null then
    with held as materialized (
      select r.ctid as spot
        from unnest(v_ids) as u(id)
       cross join lateral (
             select x.ctid from postrider_internal.ready x
               where x.job_id = u.id and x.seq <> x.job_id for update skip locked) r),
    gone as (
      delete from postrider_internal.ready r using held h where r.ctid = h.spot returning r.*),
    abort_requests as (
      insert into postrider_internal.aborts (worker, fence, job_id)
      select g.worker, g.fence, g.job_id from gone g where g.worker > 0),
    planned as materialized (
      select s.ctid as spot
        from unnest(v_ids) as u(id)
       cross join lateral (select x.ctid from postrider_internal.scheduled x
                           where x.job_id = u.id for update skip locked) s),
    dropped as (
      delete from postrider_internal.scheduled s using planned p where s.ctid = p.spot returning s.*),
    -- If the server may have acted, the job does not end as cancelled. If a hook of this transaction cancels the job,
    -- it was not called.
    ended_jobs as materialized (
      select g.job_id, g.worker, g.fence, g.attempt - (g.worker > 0 and not g.is_called)::int as attempt, g.track,
             g.rekey,
             case when g.is_called then g.since end as started_at,
             g.has_callbacks or case when v_has_hooks then postrider_internal.is_hooked(g.job_id)
               else false end as needs_conclude,
             case when g.is_called and g.at_most_once then 'u' else 'c' end::"char" as state
        from (select g.*, g.worker > 0
              and not (v_has_hooks and postrider_internal.has_begun_in_transaction(g.job_id)) as is_called
                from gone g) g
       union all
      select d.job_id, 0, 0, d.attempt, d.track, d.rekey, null,
             d.has_callbacks or case when v_has_hooks then postrider_internal.is_hooked(d.job_id) else false end, 'c'
        from dropped d),
    final as (
      insert into postrider_internal.results (job_id, started_at, fence, worker, attempt, track, rekey, state,
                                              error_code, error)
      select o.job_id, o.started_at, o.fence, o.worker, o.attempt, o.track, o.rekey, o.state, 'cancelled',
             case o.state when 'c' then v_cancelled
               else 'cancelled while it was running; it is not known whether the server acted on it' end
        from ended_jobs o where not o.needs_conclude),
    to_conclude as (
      insert into postrider_internal.outcomes (
        job_id, started_at, fence, worker, attempt, track, rekey, state, error_code, error, parent_id, is_swept)
      select o.job_id, o.started_at, o.fence, o.worker, o.attempt, o.track, o.rekey, o.state, 'cancelled',
             case o.state when 'c' then v_cancelled
               else 'cancelled while it was running; it is not known whether the server acted on it' end, p_tree, true
        from ended_jobs o where o.needs_conclude),
    tally as (
      insert into postrider_internal.job_deltas (tracks, states, jobs, ended)
      select array[o.track], array[o.state], array[count(*)::int], case when v_has_limits then array_agg(o.job_id) end
        from ended_jobs o where o.track > 0 group by o.track, o.state),
    tally_without_track as (
      insert into postrider_internal.job_deltas (tracks, states, jobs, queue, ended)
      select array[0], array[o.state], array[count(*)::int], j.queue, case when v_has_limits
        then array_agg(o.job_id) end
        from ended_jobs o cross join lateral (select x.queue from postrider.jobs x where x.id = o.job_id offset 0) j
       where o.track = 0 group by o.state, j.queue)
    select count(*) filter (where not o.needs_conclude), count(*) filter (where o.worker > 0),
           array_agg(o.job_id), array_agg(o.state)
      into v_ended, v_aborts, v_jobs, v_states
      from ended_jobs o;
    if v_jobs is not null then
      perform postrider_internal.record_unreported_ends(v_jobs, v_states);
    end if;
    if v_aborts > 0 then
      perform pg_notify('postrider', 'abort');
    end if;
  end if;
  return v_ended;
end
$$;
comment on function postrider_internal.end_released_members(bigint, int) is
  'cancels up to p_limit released requests of an ended batch or chain; returns how many count as ended now';
