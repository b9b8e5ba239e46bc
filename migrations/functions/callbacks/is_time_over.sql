-- SPDX-License-Identifier: Apache-2.0
-- An error 57014 has one of three causes: the time limit, a user who cancels the statement, or a function that raises
-- it. From nine tenths of the limit on, the limit counts as the cause. The limit starts with the message that plans the
-- statement. statement_timestamp() starts later, with the message that runs it.
--
-- PostgreSQL applies the limit only once in a statement, so a function run after it would have no limit.
create or replace function postrider_internal.is_time_over() returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select current_setting('statement_timeout') <> '0'
     and clock_timestamp() >= statement_timestamp() + 0.9 * current_setting('statement_timeout')::interval
$$;
comment on function postrider_internal.is_time_over() is
  'whether the time limit of the statement, which all functions of a job share, has passed';
