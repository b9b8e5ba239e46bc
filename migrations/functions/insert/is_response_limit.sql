-- SPDX-License-Identifier: Apache-2.0
-- Without SET, so that PostgreSQL inlines it.
create or replace function postrider_internal.is_response_limit(p_bytes bigint) returns boolean
language sql immutable parallel safe
return p_bytes between 0 and 67108864;
comment on function postrider_internal.is_response_limit(bigint) is
  'whether a number is a limit for the bytes of an answer, which the worker keeps in memory';
