-- SPDX-License-Identifier: Apache-2.0
-- Where an error is caught that a value may be to blame for.
create or replace function postrider.is_passing(p_sqlstate text) returns boolean
language sql immutable parallel safe
as $$ select left(p_sqlstate, 2) in ('40', '55') $$;
comment on function postrider.is_passing(text) is
  'private: whether an error says nothing of the value that was looked at, but of a deadlock or a lock, and may be gone the next time';
