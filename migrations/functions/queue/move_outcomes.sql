-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- After the commit every session sees the job as ended.
create or replace function postrider_internal.move_outcomes(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with gone as (
    delete from postrider_internal.outcomes o where o.job_id = any (p_jobs) returning o.*)
  insert into postrider_internal.results (
    job_id, started_at, finished_at, fence, worker, attempt, track, dns_us, connect_us, tls_us, first_byte_us, total_us,
    status_code, rekey, state, reused, http_version, error_code, remote_ip, error, headers, body,
    bytes_sent, bytes_received, cache, encoding, result, server, credential_version)
  select g.job_id, g.started_at, g.finished_at, g.fence, g.worker, g.attempt, g.track, g.dns_us, g.connect_us, g.tls_us,
    g.first_byte_us, g.total_us, g.status_code, g.rekey, g.state, g.reused, g.http_version, g.error_code, g.remote_ip,
    g.error, g.headers, g.body, g.bytes_sent, g.bytes_received, g.cache, g.encoding, g.result, g.server,
    g.credential_version
    from gone g;
end
$$;
comment on function postrider_internal.move_outcomes(bigint[]) is
  'moves final states of jobs from outcomes to results, where all views show them';
