-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.refusal_wait(p_refusals int) returns interval
language sql immutable
as $$ select least(interval '30 s', interval '0.25 s' * 2 ^ least(p_refusals - 1, 10)) $$;
comment on function postrider_internal.refusal_wait(int) is
  'the wait after so many refusals of a job in a row: 250 ms, doubled each time, at most 30 s';
