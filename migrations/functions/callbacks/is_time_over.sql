-- SPDX-License-Identifier: Apache-2.0
-- For a 57014, which a function may raise itself, and a user may cancel the statement. From nine tenths of the limit
-- on, the limit was the cause. It begins with the message that plans the statement, and statement_timestamp() begins
-- with the message that runs it. The limit applies only once, so a function run after it would have no limit.
create or replace function postrider_internal.is_time_over() returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select current_setting('statement_timeout') <> '0'
     and clock_timestamp() >= statement_timestamp() + 0.9 * current_setting('statement_timeout')::interval
$$;
comment on function postrider_internal.is_time_over() is
  'whether the time limit of the statement, which all functions of a job share, has passed';
