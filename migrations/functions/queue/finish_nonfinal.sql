-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Handles two kinds of attempts that finish leaves: the job goes on, or callbacks and hooks must run before it ends.
--
-- A job with callbacks or hooks does not end here. Its result waits in outcomes for conclude. An attempt that does not
-- end its job is stored in past_attempts, and the job goes back. With o and w it returns to ready at its old place,
-- with n at a new place. With all other verdicts it goes to scheduled.
--
-- A job that was handed back (h) is due at once, with two exceptions. If another transaction had locked the row of its
-- credential (refresh_failed, see judge_credentials), it waits 5 s. If the database had a shortage (internal), it waits
-- as long as the worker asks.
--
-- A new page (n) starts with the max_attempts of the job, even if a retry raised the number for the page before it.
create or replace function postrider_internal.finish_nonfinal(p_worker int,
                                                              p_left postrider_internal.nonfinal_attempt[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with to_conclude as (
    insert into postrider_internal.outcomes (
      job_id, started_at, fence, worker, attempt, track, dns_us, connect_us, tls_us, first_byte_us, total_us,
      status_code, rekey, state, reused, http_version, error_code, remote_ip, error, headers, body,
      bytes_sent, bytes_received, cache, encoding, result, parent_id, server, credential_version)
    select g.job_id, g.since, g.fence, p_worker, g.attempt, g.track, g.dns, g.connect, g.tls, g.first_byte, g.total,
      g.status, g.rekey, g.outcome, g.reused, g.http,
      g.code, g.ip, g.error, g.headers, g.body,
      g.sent, g.received, g.cache, g.encoding, g.result, g.parent_id, g.base, g.version
      from unnest(p_left) g
     where postrider_internal.is_final_outcome(g.outcome) and g.has_callbacks),
  past as (
    insert into postrider_internal.past_attempts (
      job_id, fence, started_at, worker, attempt, dns_us, connect_us, tls_us, first_byte_us, total_us,
      status_code, reused, http_version, error_code, remote_ip, error, bytes_sent, bytes_received, cache, server,
      credential_version, refusals, gained_little)
    select g.job_id, g.fence, g.since, p_worker, g.attempt, g.dns, g.connect, g.tls, g.first_byte, g.total,
      g.status, g.reused, g.http, g.code, g.ip, g.error, g.sent, g.received, g.cache, g.base,
      g.version, case g.outcome when 'b' then postrider_internal.refusals_in_row(g.job_id) + 1 end,
      case g.outcome when 'l' then true when 'p' then false end
      from unnest(p_left) g
     where g.outcome in ('r', 'h', 'p', 'l', 'n', 'w', 'o', 'b', 'd')),
  onward as (
    insert into postrider_internal.ready (
      seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, parent_id, has_callbacks, tried)
    select case g.outcome when 'n' then nextval('postrider.jobs_id_seq') else g.seq end, g.job_id, g.track,
           case g.outcome when 'n' then 0 else g.attempt - 1 end,
           case g.outcome when 'n' then (select j.max_attempts from postrider.jobs j where j.id = g.job_id)
             else g.max_attempts end,
           case g.outcome when 'n' then least(g.rekey + 1, 32766) else g.rekey end, g.at_most_once, g.expires_at,
           g.parent_id, g.has_callbacks, case g.outcome when 'o' then g.tried || g.server end
      from unnest(p_left) g
     where g.outcome in ('n', 'w', 'o'))
  insert into postrider_internal.scheduled (run_at, job_id, track, attempt, max_attempts, rekey, at_most_once,
                                            expires_at, parent_id, has_callbacks)
  select now() + case g.outcome when 'b'
    then postrider_internal.refusal_wait(postrider_internal.refusals_in_row(g.job_id) + 1)
         when 'd' then postrider_internal.throttle_wait(g.job_id, g.attempt, g.retry_after_ms) when 'h' then case g.code
             when 'refresh_failed' then interval '5 s'
             when 'internal' then coalesce(g.retry_after_ms, 0) * interval '1 ms' else '0' end
               else postrider_internal.retry_delay(
           (select j.backoff from postrider.jobs j where j.id = g.job_id),
           case when g.outcome in ('p', 'l') then 1 else g.attempt end, g.retry_after_ms) end,
         g.job_id, g.track, g.attempt - (g.outcome in ('h', 'p', 'l', 'b', 'd'))::int, g.max_attempts, g.rekey,
         g.at_most_once, g.expires_at,
         g.parent_id, g.has_callbacks
    from unnest(p_left) g
   where g.outcome in ('r', 'h', 'p', 'l', 'b', 'd');
end
$$;
comment on function postrider_internal.finish_nonfinal(int, postrider_internal.nonfinal_attempt[]) is
  'stores results that wait for conclude, and moves jobs that go on to ready or scheduled';
