-- SPDX-License-Identifier: Apache-2.0
-- A wait of 0 counts as no wait. No attempt is counted, so a server that always answers 0 would get calls without end.
create or replace function postrider_internal.throttle_wait(p_job bigint, p_attempt int,
                                                            p_wait_ms bigint) returns interval
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_wait_ms > 0 then least(greatest(p_wait_ms, 1000), 3600000) * interval '1 ms'
    else least(interval '15 min', interval '1 s' * power(2, least(count(*), 10)) * (1 + random() / 4)) end
    from postrider_internal.throttled_attempts(p_job, p_attempt)
$$;
comment on function postrider_internal.throttle_wait(bigint, int, bigint) is
  'the wait of a job that its server postponed: 1 s to 1 h; without Retry-After 1 s, doubled up to 15 min';
