-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.feed_job(p_id bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_list bigint;
begin
  select i.id into v_list from postrider.intake i
   where p_id between i.first_id and i.last_id and (i.ids is null or p_id = any (i.ids))
     for update;
  return found and postrider.feed(array[v_list]) > 0;
end
$$;
comment on function postrider.feed_job(bigint) is
  'private: feeds the intake list that holds a job, so that it can be cancelled or rescheduled like any other; false if none does';
