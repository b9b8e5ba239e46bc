-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.attempts as
select a.job_id, a.attempt, coalesce(w.name, a.worker::text) as worker, a.started_at,
       round(a.dns_us / 1000.0, 3) as dns_ms, round(a.connect_us / 1000.0, 3) as connect_ms,
       round(a.tls_us / 1000.0, 3) as tls_ms, round(a.first_byte_us / 1000.0, 3) as first_byte_ms,
       round(a.total_us / 1000.0, 3) as total_ms,
       a.cache, case when v.visible then a.remote_ip end as remote_ip, a.http_version, a.reused,
       case when v.visible then a.server end as server, a.credential_version, a.status_code::int as status_code, a.error_code,
       case when v.visible then a.error end as error,
       a.finished_at, a.bytes_sent, a.bytes_received, a.fence
  from (select job_id, fence, started_at, finished_at, worker, attempt, dns_us, connect_us, tls_us, first_byte_us,
               total_us, status_code, reused, http_version, error_code, remote_ip, error, bytes_sent, bytes_received, cache, server, credential_version
          from postrider.tries
        union all
        select job_id, fence, started_at, finished_at, worker, attempt, dns_us, connect_us, tls_us, first_byte_us,
               total_us, status_code, reused, http_version, error_code, remote_ip, error, bytes_sent, bytes_received, cache, server, credential_version
          from postrider.results
         where fence > 0
        union all
        select job_id, fence, started_at, finished_at, worker, attempt, dns_us, connect_us, tls_us, first_byte_us, total_us,
               status_code, reused, http_version, error_code, remote_ip, error, bytes_sent, bytes_received, cache, server, credential_version
          from postrider.outcomes
         where fence > 0) a
 cross join lateral (
       select (select postrider.sees_all())
              or exists (select from postrider.jobs j where j.id = a.job_id and j.created_by = current_user) as visible offset 0) v
  left join postrider.workers w on w.id = a.worker
 where v.visible;
comment on view postrider.attempts is
  'public: one row for each try that reached the network or was refused on its way there, with its timings; the fence tells two tries of one number apart';
