-- SPDX-License-Identifier: Apache-2.0
-- For a handler of query_canceled: a person may have cancelled the statement, which says nothing of the job. The limit
-- does not strike twice, so what follows is to be short.
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
  'the sentence for what took all of the time of its statement; raises query_canceled again if it was somebody who cancelled it';
