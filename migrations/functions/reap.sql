-- SPDX-License-Identifier: Apache-2.0
-- A worker without a heartbeat for 10 s is declared lost, and its jobs run again. The advisory lock waits for
-- nobody: a worker whose claim is under way this very moment is looked at again in the next round. It is tried in
-- a step of its own: among other conditions the planner, which sorts them by cost, would try it first, on workers
-- that are well, and their claims would fail meanwhile.
-- Silence counts only where somebody was there all the while: one whose heartbeats have come for 10 s without a gap. After an outage that
-- all had in common (a server that was away, a lock on this table, a machine that stood still, a clock set ahead) there is nobody, and
-- all have 10 s from the first one's return. A heartbeat that lies ahead is of a clock that was set back since: it counts as one of now.
-- A row that somebody has locked (an open transaction that cancels a running job, say) holds up no others: its worker keeps
-- calls in flight and notes its place, where it is looked for again each time. No index tells a worker's rows: to look for
-- them among three million ready ones takes 0.5 s, in the session of the heartbeat.
-- Why custom plans: a generic one from the days of an empty queue would look through all of them for one place.
-- Rows come back with a fresh seq: with their old one they would lie below the watermarks of the others.
create or replace function postrider.reap(p_worker int, p_epoch bigint)
returns table (lost_worker int, lost_name text, jobs int)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
set jit = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_lost int[];
  v_ended int[];
  v_sought int[];
  v_gone bigint;
  v_counts int[];
  v_parents bigint[];
  v_members bigint[];
  v_states "char"[];
  v_error constant text := 'the worker that made the call died or hung; it is not known whether the server acted on it';
begin
  if not postrider.leads(p_worker, p_epoch) then
    return;
  end if;
  update postrider.workers w set heartbeat_at = clock_timestamp(), steady_since = clock_timestamp()
   where w.ended_at is null and w.heartbeat_at > clock_timestamp() + interval '5 s';
  with silent as materialized (
    select w.id
      from postrider.workers w
     where w.ended_at is null and w.heartbeat_at < clock_timestamp() - interval '10 s'
       and exists (
             select from postrider.workers o
              where o.ended_at is null and o.steady_since <= clock_timestamp() - interval '10 s'
                and o.heartbeat_at > clock_timestamp() - interval '5 s')),
  alone as materialized (
    select s.id from silent s where pg_try_advisory_xact_lock(1886351474, s.id)),
  fenced as (
    update postrider.workers w set ended_at = clock_timestamp(), lost = true, in_flight = 0
      from alone a
     where w.id = a.id and w.ended_at is null and w.heartbeat_at < clock_timestamp() - interval '10 s'
    returning w.id)
  select array_agg(f.id) into v_lost from fenced f;
  select v_lost || array_agg(w.id), v_lost || array_agg(w.id) filter (where w.locked_seqs is null)
    into v_ended, v_sought
    from postrider.workers w where w.ended_at is not null and w.in_flight > 0;
  if v_ended is null then
    return;
  end if;
  if v_lost is not null then
    delete from postrider.idle_workers i where i.worker = any (v_lost);
    perform postrider.shut_idle_gate();
  end if;
  with leased as materialized (
    select r.ctid as spot, r.worker, r.track, r.seq from postrider.ready r where v_sought is not null and r.worker = any (v_sought)
    union all
    select r.spot, w.id, l.track, l.seq
      from postrider.workers w
     cross join lateral unnest(w.locked_tracks, w.locked_seqs) as l(track, seq)
     cross join lateral (
           select x.ctid as spot from postrider.ready x where x.track = l.track and x.seq = l.seq and x.worker = w.id offset 0) r
     where w.id = any (v_ended)),
  picked as materialized (
    select r.ctid as spot, r.worker from leased l join postrider.ready r on r.ctid = l.spot
     where r.worker = l.worker
       for update of r skip locked),
  kept as (
    update postrider.workers w
       set in_flight = cardinality(k.seqs), locked_tracks = k.tracks, locked_seqs = k.seqs
      from (select e.id, array_remove(array_agg(l.track order by l.seq), null) as tracks,
                   array_remove(array_agg(l.seq order by l.seq), null) as seqs
              from unnest(v_ended) as e(id)
              left join leased l on l.worker = e.id and l.spot not in (select p.spot from picked p)
             group by e.id) k
     where w.id = k.id and w.locked_seqs is distinct from k.seqs),
  gone as (
    delete from postrider.ready r using picked p where r.ctid = p.spot
    returning r.*, case when r.at_most_once then 'u' when r.attempt >= r.max_attempts then 'f' else 'r' end::"char" as outcome,
      r.is_followed or case when (select exists (select from postrider.hooks)) then postrider.is_hooked(r.job_id) else false end as is_told),
  final as (
    insert into postrider.results (job_id, started_at, fence, worker, attempt, track, rekey, state, error_code, error)
    select g.job_id, g.since, g.fence, g.worker, g.attempt, g.track, g.rekey, g.outcome, 'lost_worker', v_error
      from gone g where g.outcome <> 'r' and not g.is_told),
  followed as (
    insert into postrider.outcomes (
      job_id, started_at, fence, worker, attempt, track, rekey, state, error_code, error, parent_id)
    select g.job_id, g.since, g.fence, g.worker, g.attempt, g.track, g.rekey, g.outcome, 'lost_worker', v_error, g.parent_id
      from gone g where g.outcome <> 'r' and g.is_told),
  tried as (
    insert into postrider.tries (job_id, fence, started_at, worker, attempt, error_code, error)
    select g.job_id, g.fence, g.since, g.worker, g.attempt, 'lost_worker', v_error from gone g where g.outcome = 'r'),
  again as (
    insert into postrider.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, is_followed)
    select nextval('postrider.jobs_id_seq'), o.job_id, o.track, o.attempt, o.max_attempts, o.rekey, o.at_most_once,
           o.expires_at, o.parent_id, o.is_followed
      from (select * from gone g where g.outcome = 'r' order by g.track, g.seq) o),
  tally as (
    insert into postrider.tallies (tracks, states, jobs)
    select array[g.track], array[g.outcome], array[count(*)::int] from gone g group by g.track, g.outcome)
  select array(select (select count(*) from leased g where g.worker = l.id) from unnest(v_lost) with ordinality as l(id, n) order by l.n),
         array_agg(g.parent_id) filter (where g.parent_id is not null and not g.is_told and g.outcome <> 'r'),
         array_agg(g.job_id) filter (where g.parent_id is not null and not g.is_told and g.outcome <> 'r'),
         array_agg(g.outcome) filter (where g.parent_id is not null and not g.is_told and g.outcome <> 'r'),
         count(*)
    into v_counts, v_parents, v_members, v_states, v_gone
    from gone g;
  -- After its rows: who was just cancelling one of them has written what to abort by then.
  delete from postrider.aborts a where a.worker = any (v_ended);
  delete from postrider.lane_permits m where m.worker = any (v_lost);
  if v_parents is not null then
    perform postrider.members_ended(v_parents, v_members, v_states);
  end if;
  return query
  select w.id, w.name, l.jobs
    from unnest(v_lost, v_counts) as l(id, jobs) join postrider.workers w on w.id = l.id;
  if v_lost is not null or v_gone > 0 then
    perform postrider.wake();
  end if;
end
$$;
comment on function postrider.reap(int, bigint) is
  'private: leader: declares silent workers lost and makes their jobs ready again, or final; one row for each worker';
