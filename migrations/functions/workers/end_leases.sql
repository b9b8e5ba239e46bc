-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans
-- For workers of p_ended that are in p_sought too, it searches all of ready. The other workers have stored the places
-- of their remaining leases. A locked row is skipped: its worker keeps calls in flight and stores the place, where reap
-- tries again.
--
-- Custom plans: a generic plan from the time of an empty queue would search all of ready for one place.
--
-- counts: the number of leases found for each worker of p_counted.
--
-- Rows return with a new seq. With the old one they would lie below the watermarks of the workers.
create or replace function postrider_internal.end_leases(
  p_ended int[], p_sought int[], p_counted int[], p_error text, out counts int[], out gone bigint, out unknown bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parents bigint[];
  v_members bigint[];
  v_states "char"[];
  v_jobs bigint[];
  v_ends "char"[];
begin
  with leased as materialized (
    select r.ctid as spot, r.worker, r.track, r.seq from postrider_internal.ready r
      where p_sought is not null and r.worker = any (p_sought)
    union all
    select r.spot, w.id, l.track, l.seq
      from postrider_internal.workers w
     cross join lateral unnest(w.locked_tracks, w.locked_seqs) as l(track, seq)
     cross join lateral (
           select x.ctid as spot from postrider_internal.ready x
             where x.track = l.track and x.seq = l.seq and x.worker = w.id offset 0) r
     where w.id = any (p_ended) and (w.id = any (p_sought)) is not true),
  picked as materialized (
    select r.ctid as spot, r.worker from leased l join postrider_internal.ready r on r.ctid = l.spot
     where r.worker = l.worker
       for update of r skip locked),
  kept as (
    update postrider_internal.workers w
       set in_flight = cardinality(k.seqs), locked_tracks = k.tracks, locked_seqs = k.seqs
      from (select e.id, array_remove(array_agg(l.track order by l.seq), null) as tracks,
                   array_remove(array_agg(l.seq order by l.seq), null) as seqs
              from unnest(p_ended) as e(id)
              left join leased l on l.worker = e.id and l.spot not in (select p.spot from picked p)
             group by e.id) k
     where w.id = k.id and w.locked_seqs is distinct from k.seqs),
  gone as (
    delete from postrider_internal.ready r using picked p where r.ctid = p.spot
    returning r.*, case when r.at_most_once then 'u' when r.attempt >= r.max_attempts then 'f'
      else 'r' end::"char" as outcome,
      r.has_callbacks or case when (select exists (select from postrider.hooks))
        then postrider_internal.is_hooked(r.job_id) else false end as needs_conclude),
  final as (
    insert into postrider_internal.results (job_id, started_at, fence, worker, attempt, track, rekey, state, error_code,
                                            error)
    select g.job_id, g.since, g.fence, g.worker, g.attempt, g.track, g.rekey, g.outcome, 'lost_worker', p_error
      from gone g where g.outcome <> 'r' and not g.needs_conclude),
  to_conclude as (
    insert into postrider_internal.outcomes (
      job_id, started_at, fence, worker, attempt, track, rekey, state, error_code, error, parent_id)
    select g.job_id, g.since, g.fence, g.worker, g.attempt, g.track, g.rekey, g.outcome, 'lost_worker', p_error,
           g.parent_id
      from gone g where g.outcome <> 'r' and g.needs_conclude),
  past as (
    insert into postrider_internal.past_attempts (job_id, fence, started_at, worker, attempt, error_code, error)
    select g.job_id, g.fence, g.since, g.worker, g.attempt, 'lost_worker', p_error from gone g where g.outcome = 'r'),
  again as (
    insert into postrider_internal.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at,
                                          parent_id, has_callbacks)
    select nextval('postrider.jobs_id_seq'), o.job_id, o.track, o.attempt, o.max_attempts, o.rekey, o.at_most_once,
           o.expires_at, o.parent_id, o.has_callbacks
      from (select * from gone g where g.outcome = 'r' order by g.track, g.seq) o),
  tally as (
    insert into postrider_internal.job_deltas (tracks, states, jobs, ended)
    select array[g.track], array[g.outcome], array[count(*)::int],
           case when g.outcome <> 'r' and (select exists (select from postrider.client_limits))
             then array_agg(g.job_id) end
      from gone g group by g.track, g.outcome)
  select array(select (select count(*) from leased g where g.worker = c.id)
               from unnest(p_counted) with ordinality as c(id, n) order by c.n),
         array_agg(g.parent_id) filter (where g.parent_id is not null and not g.needs_conclude and g.outcome <> 'r'),
         array_agg(g.job_id) filter (where g.parent_id is not null and not g.needs_conclude and g.outcome <> 'r'),
         array_agg(g.outcome) filter (where g.parent_id is not null and not g.needs_conclude and g.outcome <> 'r'),
         count(*), count(*) filter (where g.outcome = 'u'),
         array_agg(g.job_id) filter (where g.outcome <> 'r'), array_agg(g.outcome) filter (where g.outcome <> 'r')
    into counts, v_parents, v_members, v_states, gone, unknown, v_jobs, v_ends
    from gone g;
  -- After the rows, because a cancel that held one of them has written its abort by then.
  delete from postrider_internal.aborts a where a.worker = any (p_ended);
  if v_jobs is not null then
    perform postrider_internal.record_unreported_ends(v_jobs, v_ends);
  end if;
  if v_parents is not null then
    perform postrider_internal.count_ended_members(v_parents, v_members, v_states);
  end if;
end
$$;
comment on function postrider_internal.end_leases(int[], int[], int[], text) is
  'ends leases of ended workers: at_most_once jobs become unknown, others ready, or failed without attempts left';
