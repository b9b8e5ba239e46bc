-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Gives a worker its part of lanes with limits. A permit allows one more call in flight. A slot is a moment at which
-- one call may begin. The worker passes its calls in flight (p_used), the permits that it wants in all (p_hold), and
-- the further slots that it wants (p_slots).
--
-- All workers together never hold more permits than max_in_flight. If max_in_flight was lowered, a worker with more
-- calls begins none until it is below. While a worker waits for permits, no worker keeps more than its share.
--
-- Slots are evenly spaced, a little more than rate_period / rate_limit apart. The extra is 2 % of the period, at most
-- 100 ms. A call may begin later than its slot by the same time. Still no period sees more than rate_limit + 1 calls.
--
-- Slots are given at most 250 ms ahead. first_us is the first slot given, or the first one available. late_us is
-- how much later than its slot a call may begin. share is the most calls while other workers wait for permits.
--
-- Lock order: rows of lane_rates by lane, in a separate statement, so that the next statement sees the slots that
-- others have taken. The advisory lock is the lock of claim. While a worker holds it, the worker is not declared lost,
-- and its permits are not given away.
create or replace function postrider_internal.acquire_lane_permits(p_worker int, p_lanes int[], p_used int[],
                                                                   p_hold int[], p_slots int[])
returns table (
  lane int, permits int, share int, slots int, first_us bigint, spacing_us bigint, late_us bigint, now_us bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
#variable_conflict use_column
declare
  v_has_lock boolean;
  v record;
  v_now timestamptz;
  v_first timestamptz;
  v_late interval;
  v_spacing interval;
  v_held int;
  v_mine int;
  v_wanting int;
  v_starving boolean;
  v_commit text := current_setting('synchronous_commit');
begin
  -- Two steps, as in claim, because the row must be read after the lock is taken.
  v_has_lock := pg_try_advisory_xact_lock_shared(1886351474, p_worker);
  if not v_has_lock or not exists (select from postrider_internal.workers w
                                  where w.id = p_worker and w.ended_at is null) then
    return;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  insert into postrider_internal.lane_rates (lane)
  select n.id from postrider.lanes n
   where n.id = any (p_lanes) and (n.max_in_flight is not null or n.rate_limit is not null)
     and not exists (select from postrider_internal.lane_rates s where s.lane = n.id)
   order by n.id
      on conflict do nothing;
  perform from postrider_internal.lane_rates s where s.lane = any (p_lanes) order by s.lane for update;
  for v in
    select d.lane, d.used, d.hold, d.slots, n.max_in_flight, n.rate_limit, n.rate_period, s.last_slot
      from unnest(p_lanes, p_used, p_hold, p_slots) as d(lane, used, hold, slots)
      left join postrider.lanes n on n.id = d.lane and (n.max_in_flight is not null or n.rate_limit is not null)
      left join postrider_internal.lane_rates s on s.lane = n.id
     order by d.lane
  loop
    lane := v.lane;
    permits := null;
    slots := null;
    share := 0;
    if v.max_in_flight is null then
      delete from postrider_internal.lane_permits m where m.lane = v.lane and m.worker = p_worker;
    else
      -- A worker that has not asked for 3 s no longer waits.
      select coalesce(sum(m.permits) filter (where m.worker <> p_worker), 0),
             coalesce(sum(m.permits) filter (where m.worker = p_worker), 0),
             count(*) filter (where m.worker <> p_worker and m.wanted > 0),
             coalesce(bool_or(m.worker <> p_worker and m.wanted > m.permits and m.at > now() - interval '3 s'), false)
        into v_held, v_mine, v_wanting, v_starving
        from postrider_internal.lane_permits m where m.lane = v.lane;
      share := case when v_starving then greatest(1, ceil(v.max_in_flight::numeric / (v_wanting + 1)))::int
        else v.max_in_flight end;
      permits := greatest(v.used, least(v.hold, share, v.max_in_flight - v_held), 0);
      -- The limit was lowered: no call begins until enough calls have ended.
      share := least(share, greatest(v.max_in_flight - v_held, 0));
      -- If a crash of the server lost this commit, other workers could get the same permits.
      if permits > v_mine then
        perform set_config('synchronous_commit', v_commit, true);
      end if;
      if v.hold = 0 and permits = 0 then
        delete from postrider_internal.lane_permits m where m.lane = v.lane and m.worker = p_worker;
      else
        insert into postrider_internal.lane_permits as m (lane, worker, permits, wanted, at)
        values (v.lane, p_worker, permits, v.hold, now())
            on conflict on constraint lane_permits_pkey do update set permits = excluded.permits,
            wanted = excluded.wanted, at = excluded.at;
      end if;
    end if;
    v_now := clock_timestamp();
    if v.rate_limit is not null then
      v_late := least(v.rate_period * 0.02, interval '100 ms');
      v_spacing := (v.rate_period + v_late) / v.rate_limit + interval '1 us';
      -- Slots are given at most 250 ms ahead. If last_slot lies further ahead, the clock was set back since.
      v_first := greatest(case when v.last_slot > v_now + interval '250 ms' then v_now
                          else v.last_slot end + v_spacing, v_now);
      slots := least(v.slots, 100000,
        greatest(0, floor(extract(epoch from v_now + interval '250 ms' - v_first) / extract(epoch from v_spacing))
                 + 1))::int;
      if slots > 0 then
        update postrider_internal.lane_rates s set last_slot = v_first + (slots - 1) * v_spacing where s.lane = v.lane;
      end if;
      first_us := (extract(epoch from v_first) * 1000000)::bigint;
      spacing_us := (extract(epoch from v_spacing) * 1000000)::bigint;
      late_us := (extract(epoch from v_late) * 1000000)::bigint;
    end if;
    now_us := (extract(epoch from v_now) * 1000000)::bigint;
    return next;
  end loop;
end
$$;
comment on function postrider_internal.acquire_lane_permits(int, int[], int[], int[], int[]) is
  'gives a worker permits and slots of limited lanes; permits null: no max_in_flight; slots null: no rate_limit';
