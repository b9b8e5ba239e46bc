-- SPDX-License-Identifier: Apache-2.0
-- Of a 57014: a function may raise it by itself, and a person may cancel the statement. From nine tenths of the limit
-- on it was the limit: it begins with the message that plans the statement, and statement_timestamp() with the one that
-- runs it. The limit does not strike twice, so a function that ran after it would have no end.
create or replace function postrider_internal.is_time_over() returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select current_setting('statement_timeout') <> '0'
     and clock_timestamp() >= statement_timestamp() + 0.9 * current_setting('statement_timeout')::interval
$$;
comment on function postrider_internal.is_time_over() is
  'whether the time that the functions of a job have together, the statement''s, has passed';
