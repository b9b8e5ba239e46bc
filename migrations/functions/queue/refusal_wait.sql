-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.refusal_wait(p_refusals int) returns interval
language sql immutable
as $$ select least(interval '30 s', interval '0.25 s' * 2 ^ least(p_refusals - 1, 10)) $$;
comment on function postrider_internal.refusal_wait(int) is
  'how long a job waits after the database has refused it so many times in a row: 250 ms, then twice as long each time, at most 30 s';
