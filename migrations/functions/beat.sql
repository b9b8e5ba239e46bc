-- SPDX-License-Identifier: Apache-2.0
-- Two heartbeats more than 6.8 s apart, or back in time: this worker was away meanwhile, and cannot say who else was. A settle that
-- takes all of its 6 s has a heartbeat right in front of it, and makes no gap.
create or replace function postrider.beat(p_worker int, p_in_flight int, p_draining boolean, p_idle boolean)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_alive boolean;
begin
  update postrider.workers
     set heartbeat_at = clock_timestamp(), in_flight = p_in_flight, draining = p_draining,
         steady_since = case when heartbeat_at between clock_timestamp() - interval '6.8 s' and clock_timestamp() + interval '5 s'
                             then steady_since else clock_timestamp() end
   where id = p_worker and ended_at is null;
  v_alive := found;
  if v_alive and p_idle and (select g.last_value from postrider.idle_gate g) = 1 then
    perform postrider.set_idle(p_worker, true);
  end if;
  return v_alive;
end
$$;
comment on function postrider.beat(int, int, boolean, boolean) is
  'private: heartbeat of a worker, every 3 s; false: it was declared lost and must enlist again';
