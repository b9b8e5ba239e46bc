-- SPDX-License-Identifier: Apache-2.0
-- A lane with few calls may always have 10 retries a second: a share of next to nothing would let none through, and
-- they are what finds out that the server is well again. A lane nobody called for a minute is not held any more.
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
  'the retries a second that a lane may have: its budget''s part of the calls a second of the last 10 s, 10 at least; null: they are not held';
