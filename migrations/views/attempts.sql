-- SPDX-License-Identifier: Apache-2.0
-- Microseconds are kept in 31 bits, which end at 35 minutes: a longer try took as long as from its claim to its stored
-- outcome.
create or replace view postrider.attempts as
select a.job_id, a.attempt, case when v.visible then coalesce(w.name, a.worker::text) end as worker, a.started_at,
       case when v.visible then round(a.dns_us / 1000.0, 3) end as dns_ms,
       case when v.visible then round(a.connect_us / 1000.0, 3) end as connect_ms,
       case when v.visible then round(a.tls_us / 1000.0, 3) end as tls_ms,
       case when v.visible then round(a.first_byte_us / 1000.0, 3) end as first_byte_ms,
       case when not v.visible then null
            when a.total_us = 2147483647 then round(extract(epoch from a.finished_at - a.started_at) * 1000, 3)
            else round(a.total_us / 1000.0, 3) end as total_ms,
       case when v.visible then a.cache end as cache, case when v.visible then a.remote_ip end as remote_ip,
       case when v.visible then a.http_version end as http_version, case when v.visible then a.reused end as reused,
       case when v.visible then a.server end as server, case when v.visible
         then a.credential_version end as credential_version,
       case when v.visible then a.status_code::int end as status_code, case when v.visible
         then a.error_code end as error_code,
       case when v.visible then a.error end as error,
       a.finished_at, case when v.visible then a.bytes_sent end as bytes_sent,
       case when v.visible then a.bytes_received end as bytes_received, a.fence,
       case when v.visible and a.error_code is not null then (
         select e.code from postrider_internal.envelope_errors e
           where e.job_id = a.job_id and e.fence = a.fence) end as envelope_code,
       case when v.visible and a.error_code is not null then (
         select e.name from postrider_internal.envelope_errors e
           where e.job_id = a.job_id and e.fence = a.fence) end as error_name,
       case when v.visible then a.phase end as phase, a.phase_since, a.deadline
  from (select job_id, fence, started_at, finished_at, worker, attempt, dns_us, connect_us, tls_us, first_byte_us,
               total_us, status_code, reused, http_version, error_code, remote_ip, error, bytes_sent, bytes_received,
               cache, server, credential_version,
               null::text as phase, null::timestamptz as phase_since, null::timestamptz as deadline
          from postrider_internal.past_attempts
        union all
        select job_id, fence, started_at, finished_at, worker, attempt, dns_us, connect_us, tls_us, first_byte_us,
               total_us, status_code, reused, http_version, error_code, remote_ip, error, bytes_sent, bytes_received,
               cache, server, credential_version,
               null, null, null
          from postrider_internal.results
         where fence > 0
        union all
        select job_id, fence, started_at, finished_at, worker, attempt, dns_us, connect_us, tls_us, first_byte_us,
               total_us,
               status_code, reused, http_version, error_code, remote_ip, error, bytes_sent, bytes_received, cache,
               server, credential_version,
               null, null, null
          from postrider_internal.outcomes
         where fence > 0
        union all
        select p.job_id, p.fence, r.since, null::timestamptz, p.worker, p.attempt, null::int, null::int, null::int,
               null::int, null::int,
               null::smallint, null::boolean, null::text, null::text, null::text, null::text, null::bigint,
               null::bigint, null::text,
               null::text, null::bigint, p.phase, p.phase_since, p.deadline
          from postrider_internal.progress p
          join postrider_internal.ready r on r.track = p.track and r.seq = p.seq and r.fence = p.fence
            and r.worker = p.worker and r.job_id = p.job_id) a
 cross join lateral (
       select (select postrider_internal.sees_all())
              or exists (select from postrider.jobs j
                         where j.id = a.job_id and j.created_by = current_user) as visible offset 0) v
  left join postrider_internal.workers w on w.id = a.worker
 where v.visible;
comment on view postrider.attempts is
  'one row for each try that reached the network or was refused on its way there, with its timings, and one for each that has been running for more than a second; the fence tells two tries of one number apart. A step or member whose template has no value ends before it is tried';
comment on column postrider.attempts.job_id is
  'the job; its tries may have more than one row of a number, told apart by fence';
comment on column postrider.attempts.attempt is
  'number of the try from 1; a 429, another answer that asks for a later call, and a wait for a token use none up';
comment on column postrider.attempts.worker is 'who made it; see worker_status';
comment on column postrider.attempts.started_at is 'when it was claimed for this try';
comment on column postrider.attempts.dns_ms is 'until the name was resolved, in milliseconds since the call began';
comment on column postrider.attempts.connect_ms is
  'until the connection was up, in milliseconds since the call began; 0 on a reused connection';
comment on column postrider.attempts.tls_ms is
  'until the TLS handshake was done, in milliseconds since the call began; 0 without TLS or on a reused connection';
comment on column postrider.attempts.first_byte_ms is
  'until the first byte of the answer, in milliseconds since the call began';
comment on column postrider.attempts.total_ms is
  'until the last byte, in milliseconds since the call began; all redirects included; of more than 35 minutes: from started_at to finished_at';
comment on column postrider.attempts.cache is
  'hit, stale or revalidated: what the cache served; else why it did not: miss, cache_expired, cache_version and so on; null without cache_ttl';
comment on column postrider.attempts.remote_ip is 'the address that was called, the proxy''s if there is one';
comment on column postrider.attempts.http_version is '1.0, 1.1 or 2, of the answer';
comment on column postrider.attempts.reused is 'whether the connection was there from a call before';
comment on column postrider.attempts.server is 'of a service with servers: the base URL of the one that was called';
comment on column postrider.attempts.credential_version is
  'which login or refresh the token was from; see credential_status.version';
comment on column postrider.attempts.status_code is 'of the answer; null if there was none';
comment on column postrider.attempts.error_code is 'why the try did not succeed, from error_codes; null if it did';
comment on column postrider.attempts.error is 'the same as a sentence that says what to do';
comment on column postrider.attempts.finished_at is 'when its outcome was stored; null: it runs';
comment on column postrider.attempts.bytes_sent is 'request line, headers and body, as sent, of all redirects';
comment on column postrider.attempts.bytes_received is
  'headers and body, as received before decompression, of all redirects';
comment on column postrider.attempts.fence is 'number of the claim; it only grows';
comment on column postrider.attempts.envelope_code is
  'the code inside the answer, by services.envelope, if it was no success';
comment on column postrider.attempts.error_name is
  'the name that services.envelope has for envelope_code; null if it has none';
comment on column postrider.attempts.phase is
  'what the running try does, if it takes longer than a second, at most 3 s old: prepare, hooks, lane, memory, file, descriptor, connection, dns, connect, tls, send, first_byte, receive, judge or store; null: it has ended';
comment on column postrider.attempts.phase_since is 'when this phase began; null: the try has ended';
comment on column postrider.attempts.deadline is
  'when a timeout ends the running try, unless it gets on; null: the try has ended, or its phase has no timeout';
