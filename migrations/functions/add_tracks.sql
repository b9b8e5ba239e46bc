-- SPDX-License-Identifier: Apache-2.0
-- A track that a transaction still under way has made (reschedule makes one for a new priority) is not waited for, beyond 100 ms:
-- what needs it waits in track 0 until that transaction is over, and all else goes on.
--
-- ON CONFLICT takes one of two billion ids for a row that is there already: so none is offered to it.
create or replace function postrider.add_tracks(p_queues text[], p_lanes text[], p_priorities int[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v record;
begin
  begin
    insert into postrider.tracks (queue, lane, priority)
    select distinct n.queue, n.lane, n.priority
      from unnest(p_queues, p_lanes, p_priorities) n (queue, lane, priority)
     where not exists (
             select from postrider.tracks t where t.queue = n.queue and t.lane = n.lane and t.priority = n.priority)
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
             select from postrider.tracks t where t.queue = n.queue and t.lane = n.lane and t.priority = n.priority)
     order by 1, 2, 3
     limit 1000
  loop
    begin
      insert into postrider.tracks (queue, lane, priority) values (v.queue, v.lane, v.priority) on conflict do nothing;
    exception when lock_not_available then
      null;
    end;
  end loop;
end
$$;
comment on function postrider.add_tracks(text[], text[], int[]) is
  'private: makes the tracks of these queues, lanes and priorities that are missing, but for those that somebody is just making';
