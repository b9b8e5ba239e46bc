-- SPDX-License-Identifier: Apache-2.0
-- Not for judge, store and hooks, for which explain_any has more details.
create or replace function postrider_internal.explain_phase(p_job bigint, p_fence bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('; it %s since %s%s',
           case p.phase
             when 'prepare' then 'waits for the database to build its request'
             when 'lane' then 'waits for its start time under the rate_limit of its lane'
             when 'memory' then 'waits for free memory in the worker'
             when 'file' then 'waits for the disk'
             when 'descriptor' then 'waits for a free file descriptor'
             when 'connection' then 'waits for a connection'
             when 'dns' then 'resolves the host''s name'
             when 'connect' then 'connects'
             when 'tls' then 'performs the TLS handshake'
             when 'send' then 'sends the request'
             when 'first_byte' then 'waits for the first byte of the answer'
             when 'receive' then 'receives the answer' end,
           to_char(p.phase_since, 'HH24:MI:SS TZ'),
           ', and times out at ' || to_char(p.deadline, 'YYYY-MM-DD HH24:MI:SS TZ'))
    from postrider_internal.progress p
   where p.job_id = p_job and p.fence = p_fence and p.phase not in ('hooks', 'judge', 'store')
$$;
comment on function postrider_internal.explain_phase(bigint, bigint) is
  'the part of explain that gives the phase of a running call, its start and its timeout; null below one second';
