-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- Stores the end of a batch of attempts. An attempt counts only while its lease holds: track, seq, fence and worker as
-- claimed. An attempt that lost its lease changes nothing. The parameter is one array of rows. Building rows from one
-- array for each column took 60 of 355 µs for 34 attempts.
--
-- The verdict of an attempt is one letter. Unless its line says otherwise, the attempt is used up.
-- · s succeeded
-- · f failed
-- · u unknown
-- · r retryable failure: tried again after a wait; final when the attempts or the time of the job are used up
-- · n next page: the page is stored, and the job is ready for the one after it, with a new key and attempt 1
-- · h handed back: no attempt used
-- · p progressed: a download broke off and is longer than before. No attempt used. Tried again after the wait that
--   follows a first attempt.
-- · l little: like p, but the attempt brought less than 64 KiB. fail_stuck_downloads ends the job after 20 in a row.
-- · o onward: goes on at another server of its service. Ready at its old place, no attempt used.
-- · w wait: the server asks for later calls. Ready at its old place, no attempt used, and its lane is paused.
-- · d delayed: the server asks to have this job later. Scheduled after that wait, no attempt used.
-- · b unprepared: the database refused to prepare the call and prepared others. No attempt used. Scheduled after
--   growing waits, failed after 15 minutes of them.
--
-- p_has_waits: some attempt may have the verdict w, d, b or l. Only then does the function check each attempt.
-- outcomes: one letter for each element of done, for the worker's metrics (see finish_unreported).
--
-- Lock order: the worker sends its batch ordered by (track, seq), the order in which claim, cancel and reap lock.
-- Beyond its own leased rows the statement only inserts, so two finishes cannot wait for each other.
-- count_ended_members and record_server_calls take their locks with SKIP LOCKED.
--
-- finish_nonfinal handles the attempts that do not simply end their job. Most batches have no such attempt. Setting up
-- its four INSERTs took 18 of the 69 µs of every finish.
create or replace function postrider_internal.finish(p_worker int, p_attempts postrider_internal.finished_attempt[],
                                                     p_has_waits boolean default true,
                                                     out done bigint[], out outcomes text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parents bigint[];
  v_members bigint[];
  v_states "char"[];
  v_signals postrider_internal.lane_signal[];
  v_nonfinal postrider_internal.nonfinal_attempt[];
  v_has_servers boolean;
begin
  if p_has_waits then
    p_attempts := postrider_internal.fail_stuck_downloads(postrider_internal.fail_overlong_holds(p_worker, p_attempts));
  end if;
  with x as materialized (
    select x.track, x.seq, x.fence, x.verdict, x.status, x.code, x.error, x.headers, x.body, x.retry_after_ms,
           x.dns, x.connect, x.tls, x.first_byte, x.total, x.ip, x.http, x.reused, x.sent, x.received,
           x.server, x.version, x.cache, x.encoding, x.result, l.spot
      from unnest(p_attempts) x
     cross join lateral (
           select r.ctid as spot from postrider_internal.ready r where r.track = x.track and r.seq = x.seq offset 0) l),
  gone as (
    delete from postrider_internal.ready r
     using x
     where r.ctid = x.spot and r.fence = x.fence and r.worker = p_worker
    returning r.job_id, r.attempt, r.max_attempts, r.rekey, r.since, r.at_most_once, r.expires_at,
      r.parent_id, r.tried,
      r.has_callbacks or case when (select exists (select from postrider.hooks))
        then postrider_internal.is_hooked(r.job_id) else false end as has_callbacks,
      x.*,
      case when x.server is not null
        then (select t.base_url from postrider_internal.server_routes t where t.id = x.server) end as base,
      case when x.verdict = 'r' and (r.attempt >= r.max_attempts or r.expires_at <= now()) then 'f'
           when x.verdict in ('p', 'l', 'o', 'h', 'b', 'd') and r.expires_at <= now() then 'f'
           else x.verdict end as outcome),
  final as (
    insert into postrider_internal.results (
      job_id, started_at, fence, worker, attempt, track, dns_us, connect_us, tls_us, first_byte_us, total_us,
      status_code, rekey, state, reused, http_version, error_code, remote_ip, error, headers, body,
      bytes_sent, bytes_received, cache, encoding, result, server, credential_version)
    select g.job_id, g.since, g.fence, p_worker, g.attempt, g.track, g.dns, g.connect, g.tls, g.first_byte, g.total,
      g.status, g.rekey, g.outcome, g.reused, g.http,
      g.code, g.ip, g.error, g.headers, g.body,
      g.sent, g.received, g.cache, g.encoding, g.result, g.base, g.version
      from gone g
     where postrider_internal.is_final_outcome(g.outcome) and not g.has_callbacks),
  tally as (
    insert into postrider_internal.job_deltas (tracks, states, jobs, samples, ended)
    select array_agg(c.track), array_agg(c.outcome), array_agg(c.jobs), array_agg(c.job_id),
           case when (select exists (select from postrider.client_limits))
                then (select array_agg(g.job_id) from gone g where postrider_internal.is_final_outcome(g.outcome)) end
      from (select g.track, g.outcome, count(*)::int as jobs, max(g.job_id) as job_id from gone g
            group by g.track, g.outcome) c
    having count(*) > 0)
  select coalesce(array_agg(g.seq), '{}'), coalesce(string_agg(g.outcome::text, ''), ''),
         array_agg(g.parent_id) filter (where g.parent_id is not null and not g.has_callbacks
                                        and postrider_internal.is_final_outcome(g.outcome)),
         array_agg(g.job_id) filter (where g.parent_id is not null and not g.has_callbacks
                                     and postrider_internal.is_final_outcome(g.outcome)),
         array_agg(g.outcome) filter (where g.parent_id is not null and not g.has_callbacks
                                      and postrider_internal.is_final_outcome(g.outcome)),
         array_agg(row(g.track, g.since, g.retry_after_ms, g.status, g.verdict)::postrider_internal.lane_signal)
           filter (where g.verdict = 'w' or g.retry_after_ms is not null and g.verdict not in ('r', 'd')
                   and (g.verdict = 'h' and g.code = 'internal') is not true
                      or g.verdict in ('s', 'n') and (select exists (select from postrider_internal.throttled_lanes))),
         array_agg(row(
             g.seq, g.job_id, g.fence, g.since, g.track, g.attempt, g.max_attempts, g.rekey,
             g.at_most_once, g.expires_at, g.parent_id, g.has_callbacks, g.tried,
             g.outcome, g.retry_after_ms, g.server,
             g.dns, g.connect, g.tls, g.first_byte, g.total, g.status, g.reused, g.http, g.code, g.ip,
             g.error, case when g.has_callbacks then g.headers end, case when g.has_callbacks then g.body end,
             g.sent, g.received, g.cache, g.encoding, case when g.has_callbacks then g.result end, g.base,
             g.version)::postrider_internal.nonfinal_attempt)
           filter (where g.has_callbacks or not postrider_internal.is_final_outcome(g.outcome)),
         bool_or(g.server is not null)
    into done, outcomes, v_parents, v_members, v_states, v_signals, v_nonfinal, v_has_servers
    from gone g;
  if v_nonfinal is not null then
    perform postrider_internal.finish_nonfinal(p_worker, v_nonfinal);
  end if;
  if v_parents is not null then
    perform postrider_internal.count_ended_members(v_parents, v_members, v_states);
  end if;
  if v_signals is not null then
    perform postrider_internal.pause_throttled_lanes(v_signals);
  end if;
  if v_has_servers then
    perform postrider_internal.record_server_calls(p_attempts, done);
  end if;
end
$$;
comment on function postrider_internal.finish(int, postrider_internal.finished_attempt[], boolean) is
  'ends the given attempts, with what judge read from their answers; returns seq and outcome of each valid lease';
