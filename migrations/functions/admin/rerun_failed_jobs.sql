-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, custom-plans
-- Like retry, for many jobs in one statement. A dedupe_key is taken before the result is removed, and held until the
-- commit. A concurrent INSERT with the key waits and then finds an unfinished job. Of several failed jobs with one key
-- the last runs again. Jobs in another retry are left out.
create or replace function postrider_internal.rerun_failed_jobs(p_jobs bigint[]) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count bigint;
  v_first bigint;
begin
  with held as materialized (
    select r.job_id from postrider_internal.results r
     where r.job_id = any (p_jobs) and r.state = 'f' order by r.job_id for update skip locked),
  keyed as materialized (
    select h.job_id, j.queue, j.dedupe_key,
           row_number() over (partition by j.queue, j.dedupe_key order by j.id desc) as nth
      from held h join postrider.jobs j on j.id = h.job_id),
  free as materialized (
    select k.job_id from keyed k
     where case when k.dedupe_key is null then true
                when k.nth > 1 then false
                else postrider_internal.take_dedupe_key(k.queue, k.dedupe_key, k.job_id) is null end),
  gone as (
    delete from postrider_internal.results r using free h where r.job_id = h.job_id returning r.*),
  named as materialized (
    select g.job_id, g.state, case when g.track <= 0 then g.track
      else coalesce(t.id, 0) end as track, g.track > 0 as is_counted
      from gone g left join postrider_internal.tracks t on t.id = g.track),
  tried as (
    insert into postrider_internal.past_attempts (job_id, fence, started_at, finished_at, worker, attempt, dns_us,
                                                  connect_us, tls_us,
      first_byte_us, total_us, status_code, reused, http_version, error_code, remote_ip, error, bytes_sent,
      bytes_received, cache,
      server, credential_version, ended_as)
    select g.job_id, g.fence, g.started_at, g.finished_at, g.worker, g.attempt, g.dns_us, g.connect_us, g.tls_us,
      g.first_byte_us, g.total_us, g.status_code, g.reused, g.http_version, g.error_code, g.remote_ip, g.error,
      g.bytes_sent, g.bytes_received, g.cache, g.server, g.credential_version, g.state
      from gone g where g.fence > 0),
  -- Takes the ends out of the totals. The time -infinity keeps them out of the counts of each minute.
  tally as (
    insert into postrider_internal.job_deltas (at, tracks, states, jobs, queue, ended)
    select timestamptz '-infinity', array[n.track], array[n.state], array[-count(*)::int], q.name,
           case when (select exists (select from postrider.client_limits)) then array_agg(-n.job_id) end
      from named n
     cross join lateral (
           select case when n.track = 0 then (select j.queue from postrider.jobs j
                                              where j.id = n.job_id) end as name offset 0) q
     where n.is_counted group by n.track, n.state, q.name
    union all
    -- Not in job_totals, but in the counts of clients.
    select timestamptz '-infinity', '{}', '{}', '{}', null, array_agg(-n.job_id)
      from named n where not n.is_counted and (select exists (select from postrider.client_limits)) having count(*)
        > 0),
  again as (
    insert into postrider_internal.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at,
                                          has_callbacks)
    select nextval('postrider.jobs_id_seq'), g.job_id, postrider_internal.job_track(g.track, g.job_id), g.attempt,
           g.attempt + j.max_attempts, g.rekey,
           j.delivery = 'at_most_once', j.expires_at, postrider_internal.has_callbacks(j)
      from (select * from gone order by job_id) g
      join postrider.jobs j on j.id = g.job_id)
  select count(*), min(g.job_id) into v_count, v_first from gone g;
  if v_count > 0 then
    -- prune_range relies on this row, as on the row of reopen_job.
    insert into postrider_internal.rerun_jobs (first_id) values (v_first);
    perform postrider_internal.notify_idle_workers();
  end if;
  return v_count;
end
$$;
comment on function postrider_internal.rerun_failed_jobs(bigint[]) is
  'makes failed jobs without parents and pages ready again, and returns how many';
