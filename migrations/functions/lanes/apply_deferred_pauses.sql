-- SPDX-License-Identifier: Apache-2.0
-- Runs ten times a second while deferred pauses exist, so it waits for no lock. A longer pause set by a user stays.
create or replace function postrider_internal.apply_deferred_pauses() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1ms'
as $$
declare
  v record;
begin
  for v in
    select p.lane, max(p.until) as until, (array_agg(p.reason order by p.until desc))[1] as reason
      from postrider_internal.lane_pauses p group by p.lane order by p.lane
  loop
    begin
      if v.until > clock_timestamp() then
        perform postrider_internal.extend_lane_pause(v.lane, v.until, v.reason);
      end if;
      delete from postrider_internal.lane_pauses p where p.lane = v.lane and p.until <= v.until;
    exception when lock_not_available then
      null; -- The row in lane_pauses has the same effect.
    end;
  end loop;
end
$$;
comment on function postrider_internal.apply_deferred_pauses() is
  'writes deferred pauses into the rows of their lanes, unless a transaction locks the row';
