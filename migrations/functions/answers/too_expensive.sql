-- SPDX-License-Identifier: Apache-2.0
-- For a handler of query_canceled. A user may have cancelled the statement, which says nothing about the job. After the
-- time limit has ended one expression, PostgreSQL does not apply it again in the same statement. So the handler must do
-- only short work.
create or replace function postrider_internal.too_expensive(p_what text) returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if not postrider_internal.is_time_over() then
    raise query_canceled using message = 'canceling statement due to user request';
  end if;
  return format('%s took longer than settings.judge_timeout allows; simplify it, or read smaller answers', p_what);
end
$$;
comment on function postrider_internal.too_expensive(text) is
  'the error sentence for work that took all the time of its statement; raises again if a user cancelled it';
