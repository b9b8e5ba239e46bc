-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- The only writer of job_totals, so finishes never compete for a shared row. p_after: rows up to this id were folded
-- and are dead. While a transaction stays open for hours, scanning them costs time. 0: all rows, and rarer duties.
--
-- The first row returned holds the highest id read, and the number of jobs that failed or became unknown. Up to ten
-- further rows name such jobs for the log. Each stands for all jobs of one finish with that outcome on its track,
-- because finish stores only one job id.
create or replace function postrider_internal.fold(p_worker int, p_epoch bigint, p_after bigint, p_limit int)
returns table (latest bigint, jobs bigint, job_id bigint, queue text, lane text, state text, attempt int,
               error_code text, status_code int)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
#variable_conflict use_column
declare
  v_last bigint;
  v_failed bigint;
  v_failed_tracks int[];
  v_failed_queues text[];
  v_failed_states "char"[];
  v_failed_jobs int[];
  v_failed_samples bigint[];
  v_failed_at timestamptz[];
  v_lanes text[];
  v_calls bigint[];
  v_good bigint[];
  v_bad bigint[];
  v_minutes timestamptz[];
  v_samples bigint[];
  v_weights int[];
  v_ended bigint[];
  v_used int[];
begin
  if not postrider_internal.leads(p_worker, p_epoch) then
    return query select null::bigint, 0::bigint, null::bigint, null, null, null, null::int, null, null::int;
    return;
  end if;
  with gone as (
    delete from postrider_internal.job_deltas t
     where t.ctid = any (array(select x.ctid from postrider_internal.job_deltas x where x.id > p_after
                               order by x.id limit p_limit for update skip locked))
    returning t.*),
  ended as materialized (
    select date_trunc('minute', g.at) as minute, c.track, c.state, g.queue, sum(c.jobs) as jobs,
           sum(c.jobs) filter (where c.jobs > 0) as calls
      from gone g cross join lateral unnest(g.tracks, g.states, g.jobs) as c(track, state, jobs)
     group by 1, 2, 3, 4),
  written as (
    insert into postrider_internal.job_totals as t (minute, queue, state, jobs)
    select e.minute, coalesce(e.queue, k.queue, 'default'), e.state, sum(e.jobs)
      from ended e left join postrider_internal.track_names k on k.id = e.track
     group by 1, 2, 3
        on conflict (queue, state, minute) do update set jobs = t.jobs + excluded.jobs),
  -- The calls of each lane and their results. Negative counts take back the end of a job that runs again. Less than
  -- five bad calls a second are less than a hundred in ten seconds. So thousands of failing hosts cause no writes.
  called as (
    select k.lane, sum(e.calls)::bigint as calls,
           coalesce(sum(e.calls) filter (where e.state in ('s', 'n')), 0)::bigint as good,
           coalesce(sum(e.calls) filter (where e.state = 'r'), 0)::bigint as bad
      from ended e join postrider_internal.track_names k on k.id = e.track
     where e.state in ('s', 'n', 'r', 'f', 'u', 'p', 'l', 'o', 'w', 'd') and e.calls > 0
     group by k.lane),
  sampled as materialized (
    select date_trunc('minute', g.at) as minute, c.sample, c.jobs
      from gone g cross join lateral unnest(g.states, g.jobs, g.samples) as c(state, jobs, sample)
     where postrider_internal.is_final_outcome(c.state) and c.jobs > 0 and c.sample is not null
     order by g.id desc limit 200),
  failed as materialized (
    select c.track, g.queue, c.state, c.jobs, c.sample, g.at, row_number() over (order by g.id) as nth
      from gone g cross join lateral unnest(g.tracks, g.states, g.jobs, g.samples) as c(track, state, jobs, sample)
     where c.state in ('f', 'u') and c.jobs > 0),
  named as materialized (select f.* from failed f where f.nth <= 10)
  select (select max(g.id) from gone g),
         (select sum(f.jobs) from failed f), (select array_agg(n.track order by n.nth) from named n),
         (select array_agg(n.queue order by n.nth) from named n),
         (select array_agg(n.state order by n.nth) from named n),
         (select array_agg(n.jobs order by n.nth) from named n),
         (select array_agg(n.sample order by n.nth) from named n),
         (select array_agg(n.at order by n.nth) from named n),
         (select array_agg(s.minute) from sampled s), (select array_agg(s.sample) from sampled s),
         (select array_agg(s.jobs) from sampled s),
         (select array_agg(e.id) from gone g cross join lateral unnest(g.ended) e (id)),
         (select array_agg(distinct e.track) from ended e),
         array_agg(c.lane), array_agg(c.calls), array_agg(c.good), array_agg(c.bad)
    into v_last, v_failed, v_failed_tracks, v_failed_queues, v_failed_states, v_failed_jobs, v_failed_samples,
      v_failed_at, v_minutes, v_samples,
         v_weights, v_ended, v_used, v_lanes, v_calls, v_good, v_bad
    from called c
   where c.bad > greatest(c.good, 4) or exists (select from postrider_internal.failing_lanes r where r.lane = c.lane);
  update postrider_internal.tracks t set last_used = clock_timestamp()
   where t.id = any (v_used) and t.last_used < clock_timestamp() - interval '1 hour';
  with old as (
    delete from postrider_internal.job_totals t
     where t.minute < now() - interval '1 hour' and t.minute > '-infinity'
    returning t.*),
  summed as (
    select o.queue, o.state, sum(o.jobs) as jobs from old o group by 1, 2)
  insert into postrider_internal.job_totals as t (minute, queue, state, jobs)
  select '-infinity', s.queue, s.state, s.jobs from summed s
      on conflict (queue, state, minute) do update set jobs = t.jobs + excluded.jobs;
  if v_samples is not null then
    perform postrider_internal.fold_timings(v_minutes, v_samples, v_weights);
  end if;
  delete from postrider_internal.timings t where t.minute < now() - interval '1 hour';
  -- No worker reads an abort that was written while its worker was being declared lost.
  delete from postrider_internal.aborts a
   where not exists (select from postrider_internal.workers w where w.id = a.worker and w.ended_at is null);
  delete from postrider_internal.lane_permits m
   where not exists (select from postrider_internal.workers w where w.id = m.worker and w.ended_at is null);
  delete from postrider_internal.progress p
   where not exists (select from postrider_internal.workers w where w.id = p.worker and w.ended_at is null);
  if exists (select from postrider.client_limits)
     or exists (select from postrider_internal.client_counting c
                where c.scope is not null or c.failed_at is not null) then
    perform postrider_internal.try_fold_clients(coalesce(v_ended, '{}'));
  end if;
  perform postrider_internal.run_cache_duties();
  perform postrider_internal.fold_servers(clock_timestamp(), null, p_after = 0);
  perform postrider_internal.fold_retries(v_lanes, v_calls, v_good, v_bad, clock_timestamp(), p_after = 0);
  perform postrider_internal.prune_dedupe(1000);
  if p_after = 0 then
    perform postrider_internal.fold_schedule_runs();
    -- Lanes without a call since a 429. While such a row exists, finishes collect lane signals. No pause exceeds 1 h.
    delete from postrider_internal.throttled_lanes s where s.ctid = any (array(select x.ctid
      from postrider_internal.throttled_lanes x where x.at < now() - interval '2 hours' for update skip locked));
  end if;
  -- Last, because from here on each transaction that pauses a lane waits for this one to end.
  perform postrider_internal.close_hold_gate();
  return query
  select v_last, coalesce(v_failed, 0), null::bigint, null, null, null, null::int, null, null::int;
  if v_failed > 0 then
    -- The job may be in outcomes if its callbacks still run, or in past_attempts after a retry. The delta is as old as
    -- its attempt. A later failure of the job is a later attempt with its own delta.
    return query
    select null::bigint, f.jobs::bigint, f.sample, coalesce(f.queue, t.queue), t.lane,
           postrider_internal.state_name(f.state), e.attempt,
           e.error_code, e.status_code::int
      from unnest(v_failed_tracks, v_failed_queues, v_failed_states, v_failed_jobs, v_failed_samples, v_failed_at)
           with ordinality as f(track, queue, state, jobs, sample, at, nth)
      left join lateral (select k.queue, k.lane from postrider_internal.track_names k where k.id = f.track offset 0) t
        on true
      left join lateral (
           select x.attempt, x.error_code, x.status_code
             from (select r.attempt, r.error_code, r.status_code from postrider_internal.results r
                     where r.job_id = f.sample and r.state = f.state and r.finished_at <= f.at
                    union all
                   select o.attempt, o.error_code, o.status_code from postrider_internal.outcomes o
                     where o.job_id = f.sample and o.state = f.state and o.finished_at <= f.at
                    union all
                   select t.attempt, t.error_code, t.status_code from postrider_internal.past_attempts t
                     where t.job_id = f.sample and t.ended_as = f.state and t.finished_at <= f.at) x
            order by x.attempt desc limit 1) e on true
     order by f.nth;
  end if;
end
$$;
comment on function postrider_internal.fold(int, bigint, bigint, int) is
  'leader: adds up to p_limit rows of job_deltas above p_after to job_totals, and runs related duties';
