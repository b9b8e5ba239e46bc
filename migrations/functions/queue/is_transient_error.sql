-- SPDX-License-Identifier: Apache-2.0
-- after: queue/is_shortage.sql
-- For blocks that read one value and catch its errors. There XX000 is an error of the value: PostgreSQL refuses each
-- time to allocate more than 1 GB for it.
create or replace function postrider_internal.is_transient_error(p_sqlstate text) returns boolean
language sql immutable parallel safe
as $$ select postrider_internal.is_shortage(p_sqlstate) and p_sqlstate <> 'XX000' $$;
comment on function postrider_internal.is_transient_error(text) is
  'whether an error raised while a value was read is a shortage of the database, not a fault of the value';
