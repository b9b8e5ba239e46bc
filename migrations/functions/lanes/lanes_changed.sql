-- SPDX-License-Identifier: Apache-2.0
-- If a lane may run more calls than before, its jobs start at once. Without the notification idle workers would find
-- them within 250 ms.
create or replace function postrider_internal.lanes_changed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    delete from postrider_internal.throttled_lanes s where s.lane = old.name;
    delete from postrider_internal.lane_pauses p where p.lane = old.name;
    perform postrider_internal.notify_idle_workers();
  elsif coalesce(new.paused_until, '-infinity') < coalesce(old.paused_until, '-infinity')
     or (new.max_in_flight, new.rate_limit, new.rate_period) is distinct
       from (old.max_in_flight, old.rate_limit, old.rate_period) then
    perform postrider_internal.notify_idle_workers();
  end if;
  return null;
end
$$;
comment on function postrider_internal.lanes_changed() is
  'row trigger of lanes: notifies idle workers when a lane may run more calls';

create or replace trigger lanes_changed
  after update or delete on postrider.lanes
  for each row execute function postrider_internal.lanes_changed();
