-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan
-- Feeds lists of one lane: the highest priority first, then one list of each lane in turn. One step covers up to 200
-- lanes. The next step begins behind the lane that was fed last. Jobs of these lanes in lists of several lanes came
-- earlier, so they go first.
create or replace function postrider_internal.feed_next(p_worker int, p_epoch bigint, p_jobs int) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_level int := -101;                     -- the negated priority, as in the indexes of intake
  v_cursor postrider_internal.feed_cursors;
  v_queues text[];
  v_lanes text[];
  v_lists bigint[];
  v_next bigint[];
  v_locked bigint[];
  v_left bigint := p_jobs;
  v_fed bigint := 0;
  v_has_crowd boolean;
begin
  -- Every priority is above -101 when negated. With this condition the planner can use the index.
  if not exists (select from postrider_internal.intake i where i.lane is not null and -i.priority::int > -101)
     or not postrider_internal.leads(p_worker, p_epoch) then
    return 0;
  end if;
  v_has_crowd := exists (select from postrider_internal.intake i where i.lane is null and i.bucket > 0);
  loop
    select -i.priority::int into v_level from postrider_internal.intake i
     where i.lane is not null and -i.priority::int > v_level order by -i.priority::int limit 1;
    exit when not found or v_left <= 0;
    select * into v_cursor from postrider_internal.feed_cursors m where m.priority = -v_level;
    select t.queues, t.lanes into v_queues, v_lanes
      from postrider_internal.intake_turns(v_level, v_cursor.queue, v_cursor.lane, v_left) t;
    v_locked := '{}';
    loop
      select array_agg(n.id order by n.round, n.place) into v_next
        from (select l.id, l.round, u.place, sum(l.jobs) over (order by l.round, u.place) - l.jobs as before
                from unnest(v_queues, v_lanes) with ordinality u (queue, lane, place)
               cross join lateral (
                     select i.id, i.jobs, row_number() over (order by i.first_id, i.id) as round
                       from (select x.id, x.jobs, x.first_id from postrider_internal.intake x
                              where x.lane is not null and -x.priority::int = v_level and x.queue = u.queue
                                and x.lane = u.lane
                                and x.id <> all (v_locked)
                              order by -x.priority::int, x.queue, x.lane, x.first_id, x.id limit 20) i) l) n
       where n.before < v_left;
      exit when v_next is null;
      v_lists := array(select x.id from postrider_internal.intake x where x.id = any (v_next) for update skip locked);
      exit when v_lists <> '{}';
      -- An open transaction has cancelled jobs in all these lists. Later lists do not wait for it to end.
      v_locked := v_locked || v_next;
    end loop;
    continue when v_next is null;
    perform postrider_internal.add_tracks(array_agg(i.queue), array_agg(i.lane), array_agg(i.priority::int))
       from postrider_internal.intake i where i.id = any (v_lists);
    if v_has_crowd then
      perform postrider_internal.feed_lane(l.queue, l.lane, l.priority)
         from (select distinct i.queue, i.lane, i.priority from postrider_internal.intake i
               where i.id = any (v_lists)) l;
    end if;
    insert into postrider_internal.feed_cursors as m (priority, queue, lane)
    select -v_level, i.queue, i.lane from postrider_internal.intake i where i.id = v_next[cardinality(v_next)]
        on conflict (priority) do update set queue = excluded.queue, lane = excluded.lane;
    v_left := v_left - (select sum(i.jobs) from postrider_internal.intake i where i.id = any (v_lists));
    v_fed := v_fed + postrider_internal.feed(v_lists);
  end loop;
  return v_fed;
end
$$;
comment on function postrider_internal.feed_next(int, bigint, int) is
  'leader: feeds about p_jobs jobs of lists with one lane, highest priority first, lanes in turn; returns how many';
