-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it.
create or replace function postrider_internal.is_response_limit(p_bytes bigint) returns boolean
language sql immutable parallel safe
return p_bytes between 0 and 67108864;
comment on function postrider_internal.is_response_limit(bigint) is
  'whether a number of bytes is a valid limit for answers, which the worker keeps in memory';
