-- SPDX-License-Identifier: Apache-2.0
-- The one place in SQL that decides this; the worker's SQLState.cause decides it alike. Classes: 40 (serialization
-- failures, deadlocks), 53 (memory, disk, connections), 55 (locks), 57 (time limits, shutdowns), 58 (files), XX
-- (internal errors).
create or replace function postrider_internal.is_shortage(p_sqlstate text) returns boolean
language sql immutable parallel safe
as $$ select left(p_sqlstate, 2) in ('40', '53', '55', '57', '58', 'XX') $$;
comment on function postrider_internal.is_shortage(text) is
  'whether an error says that the database lacked something at that moment, such as memory or a lock; it never ends a job';
