-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- A throttled attempt is not counted, so the next one has the same number. A new page between them begins a new count.
create or replace function postrider_internal.throttled_attempts(p_job bigint,
    p_attempt int) returns setof postrider_internal.past_attempts
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select o.*
    from postrider_internal.past_attempts o
   where o.job_id = p_job and o.attempt = p_attempt
     and (o.status_code in (403, 409, 413, 420, 423, 429, 503, 509, 529)
          and o.error_code in ('http_status', 'http_429')
          or o.error_code = 'rule')
     and o.fence > coalesce((select max(p.fence) from postrider_internal.past_attempts p
                             where p.job_id = p_job and p.error_code is null), 0)
$$;
comment on function postrider_internal.throttled_attempts(bigint, int) is
  'the calls with this attempt number in which the server or a rule asked for a later call';
