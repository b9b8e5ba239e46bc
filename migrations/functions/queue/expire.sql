-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- Like promote, it reads only rows whose expires_at is after p_since. Now and then p_since is null and it reads all
-- rows.
--
-- Rows of past_attempts show whether a job was called. Its attempt does not: a 429 gives the attempt back, and each new
-- page starts at 0.
create or replace function postrider_internal.expire(p_worker int, p_epoch bigint, p_since timestamptz,
                                                     p_limit int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_ended int;
  v_parents bigint[];
  v_members bigint[];
  v_states "char"[];
  v_jobs bigint[];
  v_ends "char"[];
begin
  with waiting as materialized (
    select r.ctid as spot
      from postrider_internal.ready r
     where r.expires_at <= now() and r.expires_at >= coalesce(p_since, '-infinity') and r.worker = 0
       and postrider_internal.leads(p_worker, p_epoch)
     order by r.track, r.seq
     limit p_limit
       for update skip locked),
  planned as materialized (
    select s.ctid as spot
      from postrider_internal.scheduled s
     where s.expires_at <= now() and s.expires_at >= coalesce(p_since, '-infinity')
       and postrider_internal.leads(p_worker, p_epoch)
     order by s.run_at, s.job_id
     limit p_limit
       for update skip locked),
  gone as (
    delete from postrider_internal.ready r using waiting w where r.ctid = w.spot
    returning r.job_id, r.track, r.attempt, r.rekey, r.parent_id, r.has_callbacks),
  dropped as (
    delete from postrider_internal.scheduled s using planned p where s.ctid = p.spot
    returning s.job_id, s.track, s.attempt, s.rekey, s.parent_id, s.has_callbacks),
  ended as (
    select e.*, e.has_callbacks or case when (select exists (select from postrider.hooks))
      then postrider_internal.is_hooked(e.job_id) else false end as needs_conclude,
           t.started_at, t.status_code, case when t.job_id is null then 'e' else 'f' end::"char" as state,
           coalesce(t.error_code, 'expired') as error_code,
           case when t.job_id is null then 'not started before expires_at'
                else coalesce(t.error, 'expires_at came before the next call')
                  || '; no time was left for another attempt' end as error
      from (select * from gone union all select * from dropped) e
      left join lateral (
           select * from postrider_internal.past_attempts t where t.job_id = e.job_id order by t.fence desc limit 1) t
             on true),
  final as (
    insert into postrider_internal.results (job_id, started_at, attempt, track, rekey, state, status_code, error_code,
                                            error)
    select e.job_id, e.started_at, e.attempt, e.track, e.rekey, e.state, e.status_code, e.error_code, e.error
      from ended e where not e.needs_conclude),
  to_conclude as (
    insert into postrider_internal.outcomes (
      job_id, started_at, attempt, track, rekey, state, status_code, error_code, error, parent_id)
    select e.job_id, e.started_at, e.attempt, e.track, e.rekey, e.state, e.status_code, e.error_code, e.error,
           e.parent_id
      from ended e where e.needs_conclude),
  tally as (
    insert into postrider_internal.job_deltas (tracks, states, jobs, ended)
    select array[e.track], array[e.state], array[count(*)::int],
           case when (select exists (select from postrider.client_limits)) then array_agg(e.job_id) end
      from ended e where e.track > 0 group by e.track, e.state),
  tally_without_track as (
    insert into postrider_internal.job_deltas (tracks, states, jobs, queue, ended)
    select array[0], array[e.state], array[count(*)::int], j.queue,
           case when (select exists (select from postrider.client_limits)) then array_agg(e.job_id) end
      from ended e join postrider.jobs j on j.id = any (array[e.job_id]) where e.track = 0 group by e.state, j.queue)
  select count(*), array_agg(e.parent_id) filter (where e.parent_id is not null and not e.needs_conclude),
         array_agg(e.job_id) filter (where e.parent_id is not null and not e.needs_conclude),
         array_agg(e.state) filter (where e.parent_id is not null and not e.needs_conclude),
         array_agg(e.job_id), array_agg(e.state)
    into v_ended, v_parents, v_members, v_states, v_jobs, v_ends
    from ended e;
  if v_parents is not null then
    perform postrider_internal.count_ended_members(v_parents, v_members, v_states);
  end if;
  if v_jobs is not null then
    perform postrider_internal.record_unreported_ends(v_jobs, v_ends);
  end if;
  return v_ended;
end
$$;
comment on function postrider_internal.expire(int, bigint, timestamptz, int) is
  'leader: ends up to p_limit waiting jobs expired since p_since (null: ever), as failed if ever called';
