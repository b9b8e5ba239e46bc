-- SPDX-License-Identifier: Apache-2.0
-- Microseconds are stored in 31 bits, which end at 35 minutes. A longer attempt lasted from its claim to its stored
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
       case when v.visible then a.phase end as phase, a.phase_since, a.deadline,
       case when v.visible then (
         select n.rule from postrider_internal.attempt_notes n
           where n.job_id = a.job_id and n.fence = a.fence) end as rule,
       case when v.visible then exists (
         select from postrider_internal.attempt_notes n
           where n.job_id = a.job_id and n.fence = a.fence and n.from_stub) end as from_stub
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
  'one row for each attempt that made a call or was refused before it, and for each call running over a second';
comment on column postrider.attempts.job_id is 'id of the job; its attempts may share a number, but differ in fence';
comment on column postrider.attempts.attempt is
  'number of the attempt from 1; a 429, other answers that ask for a later call, and waits for a token do not count';
comment on column postrider.attempts.worker is 'worker that made the attempt; see worker_status';
comment on column postrider.attempts.started_at is 'when a worker claimed the job for this attempt';
comment on column postrider.attempts.dns_ms is 'milliseconds from the start of the call to the end of name resolution';
comment on column postrider.attempts.connect_ms is
  'milliseconds from the start of the call to the connection; 0 on a reused connection';
comment on column postrider.attempts.tls_ms is
  'milliseconds from the start of the call to the end of the TLS handshake; 0 without TLS or on a reused connection';
comment on column postrider.attempts.first_byte_ms is
  'milliseconds from the start of the call to the first byte of the answer';
comment on column postrider.attempts.total_ms is
  'milliseconds from the start of the call to the last byte, with redirects; over 35 minutes: finished_at minus '
  'started_at';
comment on column postrider.attempts.cache is
  'hit, stale or revalidated: the cache served the job; otherwise why not: miss, cache_expired and so on; null without '
  'cache_ttl';
comment on column postrider.attempts.remote_ip is 'address that was called; with a proxy, the address of the proxy';
comment on column postrider.attempts.http_version is 'HTTP version of the answer: 1.0, 1.1 or 2';
comment on column postrider.attempts.reused is 'true: the call reused an open connection';
comment on column postrider.attempts.server is 'base URL of the called server; null for a service without servers';
comment on column postrider.attempts.credential_version is 'version of the token, as in credential_status';
comment on column postrider.attempts.status_code is 'status of the answer; null: no answer';
comment on column postrider.attempts.error_code is 'why the attempt did not succeed, from error_codes; null: success';
comment on column postrider.attempts.error is 'the error in a sentence, with advice';
comment on column postrider.attempts.finished_at is 'when the outcome was stored; null: still running';
comment on column postrider.attempts.bytes_sent is 'bytes of request line, headers and body as sent, with redirects';
comment on column postrider.attempts.bytes_received is
  'bytes of headers and body as received before decompression, with redirects';
comment on column postrider.attempts.fence is 'number of the claim; each claim gets a higher number';
comment on column postrider.attempts.envelope_code is 'unsuccessful code in the answer, by services.envelope';
comment on column postrider.attempts.error_name is 'name of envelope_code in services.envelope; null: no name';
comment on column postrider.attempts.phase is
  'phase of a running call: prepare, hooks, lane, memory, file, descriptor, connection, dns, connect, tls, send, '
  'first_byte, receive, judge or store; null: ended';
comment on column postrider.attempts.phase_since is
  'when this phase began, reported at most 3 s later; null: the attempt has ended';
comment on column postrider.attempts.deadline is
  'when a timeout ends the running attempt unless it makes progress; null: ended, or its phase has no timeout';
comment on column postrider.attempts.rule is
  'answer rule that decided, like service[2] graphql: its list, its index from 0, its name; null: no rule';
comment on column postrider.attempts.from_stub is 'true: services.stub gave the answer, without a call';
