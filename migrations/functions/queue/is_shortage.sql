-- SPDX-License-Identifier: Apache-2.0
-- The only place in SQL that decides this. SQLState.cause in the worker must decide the same. Classes: 40
-- (serialization failures, deadlocks), 53 (memory, disk, connections), 55 (locks), 57 (time limits, shutdowns), 58
-- (files), XX (internal errors).
create or replace function postrider_internal.is_shortage(p_sqlstate text) returns boolean
language sql immutable parallel safe
as $$ select left(p_sqlstate, 2) in ('40', '53', '55', '57', '58', 'XX') $$;
comment on function postrider_internal.is_shortage(text) is
  'whether an SQLSTATE reports a shortage such as memory or a lock; a shortage passes and never ends a job';
