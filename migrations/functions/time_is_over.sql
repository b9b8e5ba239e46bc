-- SPDX-License-Identifier: Apache-2.0
-- Of a 57014: a function may raise it by itself, and a person may cancel the statement.
create or replace function postrider.time_is_over() returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select current_setting('statement_timeout') <> '0'
     and clock_timestamp() >= statement_timestamp() + current_setting('statement_timeout')::interval
$$;
comment on function postrider.time_is_over() is
  'private: whether the time that the functions of a job have together, the statement''s, has passed';
