-- SPDX-License-Identifier: Apache-2.0
-- Full jitter: jobs that failed together retry at different times.
create or replace function postrider_internal.retry_delay(p_backoff interval[], p_attempt int, p_retry_after_ms bigint)
returns interval
language sql volatile parallel safe
as $$
  select greatest(
    case when p_backoff is not null
      then p_backoff[array_lower(p_backoff, 1) - 1 + least(greatest(p_attempt, 1), cardinality(p_backoff))]
         else random() * least(interval '15 min', interval '1 s' * power(2, least(p_attempt, 20)))
    end,
    least(coalesce(p_retry_after_ms, 0), 3600000) * interval '1 ms')
$$;
comment on function postrider_internal.retry_delay(interval[], int, bigint) is
  'the wait before a retry: backoff, else random up to least(15 min, 1 s * 2^attempt); at least Retry-After (max 1 h)';
