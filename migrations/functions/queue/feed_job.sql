-- SPDX-License-Identifier: Apache-2.0
-- Moves only this job if its list has several lanes. If it fed the whole list, a client that cancels single jobs would
-- make all its lists ready at once.
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
  'moves a job from its intake list to ready, where it can be cancelled or rescheduled; false if no list holds it';
