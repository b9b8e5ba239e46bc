-- SPDX-License-Identifier: Apache-2.0
-- A track that a transaction still under way has made (reschedule makes one for a new priority) is not waited for,
-- beyond 100 ms: what needs it waits in track 0 until that transaction is over, and all else goes on.
--
-- ON CONFLICT takes one of two billion ids for a row that is there already: so none is offered to it.
--
-- p_young: how long from now on the jobs of these tracks may still wait in track 0.
--
-- p_is_awaited: whether jobs wait for these tracks, so that surveys look at them first.
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
  'makes the tracks of these queues, lanes and priorities that are missing, but for those that somebody is just making';
