-- SPDX-License-Identifier: Apache-2.0
-- A lane with few calls may always have 10 retries a second. A small share would let no retry through, and only retries
-- find out that the server works again. If a lane had no call for a minute, its retries are no longer limited.
create or replace function postrider_internal.retry_rate(
  p_failing boolean, p_calls double precision, p_at timestamptz, p_budget numeric, p_now timestamptz)
returns double precision
language sql immutable parallel safe
begin atomic
  select case when p_failing and p_budget < 1 and p_now < p_at + interval '1 min'
    then greatest(10, p_budget::double precision * p_calls / 10 * exp(least(0,
        extract(epoch from p_at - p_now)) / 10)) end;
end;
comment on function postrider_internal.retry_rate(boolean, double precision, timestamptz, numeric, timestamptz) is
  'the allowed retries a second of a lane: retry_budget times its calls a second in 10 s, at least 10; null: no limit';
