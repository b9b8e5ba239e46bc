-- SPDX-License-Identifier: Apache-2.0
-- Of a list of several lanes only the job goes: fed as a whole, lists that a client cancels jobs of would be ready all
-- at once.
create or replace function postrider_internal.feed_job(p_id bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_list bigint;
  v_is_crowd boolean;
begin
  if not exists (select from postrider_internal.intake) then
    return false;
  end if;
  v_list := postrider_internal.intake_list(p_id);
  select i.lane is null into v_is_crowd from postrider_internal.intake i
   where i.id = v_list and p_id between i.first_id and i.last_id and (i.ids is null or p_id = any (i.ids))
     for update;
  return found and case when v_is_crowd then postrider_internal.take_from_intake(v_list, array[p_id])
    else postrider_internal.feed(array[v_list]) end > 0;
end
$$;
comment on function postrider_internal.feed_job(bigint) is
  'moves a job out of its intake list into ready, so that it can be cancelled or rescheduled like any other; false if no list holds it';
