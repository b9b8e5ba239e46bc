-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan
-- Feeds lists of several lanes. An INSERT may name a different lane for each of a million rows. If all of these became
-- ready at once, workers would walk over a million tracks to find the jobs of another client.
--
-- So for each priority the next list is fed when at most half of v_limit tracks still wait for their first call.
-- v_limit is 16 tracks for each slot of the fleet, at least 500.
--
-- A pause or a limit may hold those tracks back. In this case one list follows every 500 ms, on two conditions. A
-- quarter of all slots must be free. Since the list before, calls must have begun for less than an eighth of v_limit
-- tracks.
--
-- Where calls are slow, no slot is free. So jobs of other clients do not wait behind more tracks.
--
-- Within a priority the INSERTs take turns in a random order. One step covers at most four priorities.
create or replace function postrider_internal.feed_crowd(p_worker int, p_epoch bigint, p_jobs int) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_level int := -101;                     -- the negated priority, as in the indexes of intake
  v_levels int := 0;
  v_cursor postrider_internal.feed_cursors;
  v_limit int;
  v_list bigint;
  v_visited bigint[];
  v_new record;
  v_fed bigint := 0;
  v_tracks int;
  v_marked int;
  v_is_idle boolean;
begin
  -- Every priority is above -101 when negated. With this condition the planner can use the index.
  if not exists (select from postrider_internal.intake i where i.lane is null and -i.priority::int > -101)
     or not postrider_internal.leads(p_worker, p_epoch) then
    return 0;
  end if;
  select greatest(500, 16 * sum(w.concurrency)),
         coalesce(sum(w.in_flight) < sum(w.concurrency) * 0.75, true) into v_limit, v_is_idle
    from postrider_internal.workers w where w.ended_at is null;
  loop
    select -i.priority::int into v_level from postrider_internal.intake i
     where i.lane is null and -i.priority::int > v_level order by -i.priority::int limit 1;
    exit when not found or v_fed >= p_jobs or v_levels >= 4;
    v_levels := v_levels + 1;
    select * into v_cursor from postrider_internal.feed_cursors m where m.priority = -v_level;
    v_marked := coalesce(cardinality(v_cursor.tracks), 0);
    select array_agg(u.track), array_agg(u.seq) into v_cursor.tracks, v_cursor.seqs
      from unnest(v_cursor.tracks, v_cursor.seqs) u (track, seq)
     where exists (select from postrider_internal.ready r
                   where r.track = u.track and r.seq = u.seq and r.worker = 0 offset 0);
    v_tracks := coalesce(cardinality(v_cursor.tracks), 0);
    if v_tracks > v_limit / 2 then
      continue when v_cursor.at > clock_timestamp() - interval '500 ms';
      if not v_is_idle or v_marked - v_tracks >= v_limit / 8 then
        update postrider_internal.feed_cursors m
           set at = clock_timestamp(), tracks = v_cursor.tracks, seqs = v_cursor.seqs
          where m.priority = -v_level;
        continue;
      end if;
      v_cursor.tracks := null;
      v_cursor.seqs := null;
      v_tracks := v_limit - 1;  -- room for one list
    end if;
    v_visited := '{}';
    while v_tracks < v_limit and v_fed < p_jobs loop
      v_list := postrider_internal.next_crowd_list(v_level, v_visited);
      exit when v_list is null;
      v_visited := v_visited || v_list;
      perform from postrider_internal.intake i where i.id = v_list for update skip locked;
      continue when not found;
      perform postrider_internal.add_tracks(array_agg(coalesce(i.queue, u.queue)), array_agg(u.lane),
                                            array_agg(i.priority::int),
                p_is_awaited => false)
         from postrider_internal.intake i cross join lateral unnest(i.queues, i.lanes) u (queue, lane)
           where i.id = v_list;
      select * into v_new from postrider_internal.feed_crowd_list(v_list);
      v_fed := v_fed + v_new.fed;
      v_tracks := v_tracks + coalesce(cardinality(v_new.tracks), 0);
      v_cursor.tracks := v_cursor.tracks || v_new.tracks;
      v_cursor.seqs := v_cursor.seqs || v_new.seqs;
    end loop;
    insert into postrider_internal.feed_cursors as m (priority, at, tracks, seqs)
    values (-v_level, clock_timestamp(), coalesce(v_cursor.tracks, '{}'), coalesce(v_cursor.seqs, '{}'))
        on conflict (priority) do update set at = excluded.at, tracks = excluded.tracks, seqs = excluded.seqs;
  end loop;
  return v_fed;
end
$$;
comment on function postrider_internal.feed_crowd(int, bigint, int) is
  'leader: feeds about p_jobs jobs of lists with several lanes, highest priority first; returns how many';
