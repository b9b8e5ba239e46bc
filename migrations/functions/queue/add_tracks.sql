-- SPDX-License-Identifier: Apache-2.0
-- Another open transaction may be adding the same track. For example, reschedule adds one for a new priority. This
-- function waits at most 100 ms for it. The jobs of that track then stay in track 0 until the transaction ends, and all
-- other tracks are added.
--
-- Each row offered to ON CONFLICT uses up one of two billion ids, so tracks that exist are not offered.
--
-- p_young: how long from now jobs of these tracks may still wait in track 0.
--
-- p_is_awaited: jobs wait for these tracks, so surveys visit them first.
create or replace function postrider_internal.add_tracks(
  p_queues text[], p_lanes text[], p_priorities int[], p_young interval default interval '0',
  p_is_awaited boolean default true) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v record;
  v_now timestamptz := clock_timestamp();
begin
  begin
    insert into postrider_internal.tracks (queue, lane, priority, made_at, is_awaited)
    select distinct n.queue, n.lane, n.priority, v_now + p_young, p_is_awaited
      from unnest(p_queues, p_lanes, p_priorities) n (queue, lane, priority)
     where not exists (
             select from postrider_internal.tracks t
               where t.queue = n.queue and t.lane = n.lane and t.priority = n.priority)
     order by 1, 2, 3
        on conflict do nothing;
    return;
  exception when lock_not_available then
    perform set_config('lock_timeout', '5ms', true);
  end;
  for v in
    select distinct n.queue, n.lane, n.priority
      from unnest(p_queues, p_lanes, p_priorities) n (queue, lane, priority)
     where not exists (
             select from postrider_internal.tracks t
               where t.queue = n.queue and t.lane = n.lane and t.priority = n.priority)
     order by 1, 2, 3
     limit 1000
  loop
    begin
      insert into postrider_internal.tracks (queue, lane, priority, made_at, is_awaited)
      values (v.queue, v.lane, v.priority, clock_timestamp() + p_young, p_is_awaited) on conflict do nothing;
    exception when lock_not_available then
      null;
    end;
  end loop;
end
$$;
comment on function postrider_internal.add_tracks(text[], text[], int[], interval, boolean) is
  'adds the missing tracks of these queues, lanes and priorities; it skips a track that an open transaction is adding';
