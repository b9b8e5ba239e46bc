-- SPDX-License-Identifier: Apache-2.0
-- after: queue/is_shortage.sql
-- For blocks that read one value and catch its errors. There XX000 is an error of the value: PostgreSQL refuses to
-- allocate more than 1 GB at once for it, each time.
create or replace function postrider_internal.is_transient_error(p_sqlstate text) returns boolean
language sql immutable parallel safe
as $$ select postrider_internal.is_shortage(p_sqlstate) and p_sqlstate <> 'XX000' $$;
comment on function postrider_internal.is_transient_error(text) is
  'whether an error that was raised while a value was read is a shortage of the database, and no error of that value';
