-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- Pauses the lanes whose servers ask for it. A 429 without Retry-After pauses the lane for 1 s. Each further 429 before
-- a call succeeds doubles the pause. Answers to calls that had begun before the last 429 do not count as further: if 64
-- calls are refused at once, this counts once.
--
-- If the time of the last 429 lies ahead, the clock was set back since, and the 429 counts as old.
--
-- A server that takes a few calls at once refuses the others first and answers the few later. So a success of a call
-- that began together with the last 429 also ends the streak. The next 429 is then the first again.
--
-- Such a call began after the pause before that 429. For the nth 429 of a streak this pause was at least 2^(n - 2) s.
-- The formula stops at 512 s, although a pause may last 15 min. For the first 429 it gives half a second. Calls that
-- began before that pause prove nothing, because the server was not overloaded yet.
--
-- A wait of 0 counts as no wait. Otherwise a server that always answers 0 would get calls without end. A wait below one
-- second counts as a second.
--
-- Lock order: after the rows of the finish. By lane, first its row of throttled_lanes, then its row of lanes. The end
-- of a streak skips locked rows, because its transaction may hold rows of the cache.
--
-- If an open transaction holds the rows, the pause goes to lane_pauses and has the same effect there. So the other jobs
-- of this worker do not wait.
create or replace function postrider_internal.pause_throttled_lanes(p_signals postrider_internal.lane_signal[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v record;
  v_streak int;
  v_wait interval;
  v_reason text;
begin
  for v in
    select t.lane, bool_or(g.verdict = 'w') as is_held, max(g.status) filter (where g.verdict = 'w') as status,
           max(g.since) filter (where g.verdict = 'w') as refused,
           max(g.since) filter (where g.verdict in ('s', 'n')) as served,
           max(g.wait_ms) * interval '1 ms' as wait
      from unnest(p_signals) g join postrider_internal.track_names t on t.id = g.track
     group by t.lane
     order by t.lane
  loop
    v_wait := null;
    v_reason := null;
    if v.is_held or v.wait > interval '0' then
      begin
        if v.is_held then
          insert into postrider_internal.throttled_lanes as s (lane, streak, at) values (v.lane, 1, now())
              on conflict (lane) do update set streak = case when v.served > s.at then 1
                else least(s.streak + 1, 30) end, at = now()
              where s.at <= v.refused or s.at > clock_timestamp()
          returning streak into v_streak;
          if v.wait > interval '0' then
            v_wait := least(greatest(v.wait, interval '1 s'), interval '1 hour');
            v_reason := format('the server answered %s and asked for a wait of %s s', v.status,
              round(extract(epoch from v_wait)::numeric, 1));
          elsif found then
            v_wait := least(interval '15 min', interval '1 s' * power(2, least(v_streak - 1, 10)) * (1 + random() / 4));
            v_reason := format('the server answered %s, %s time(s) in a row, without saying how long to wait', v.status,
                               v_streak);
          end if;
        else
          v_wait := least(v.wait, interval '1 hour');
          v_reason := format('the server asked, by Retry-After or RateLimit, for a wait of %s s',
            round(extract(epoch from v_wait)::numeric, 1));
        end if;
        if v_wait is not null then
          perform postrider_internal.extend_lane_pause(v.lane, now() + v_wait, v_reason);
        end if;
      exception when lock_not_available then
        v_wait := coalesce(v_wait, least(greatest(v.wait, interval '1 s'), interval '1 hour'));
        insert into postrider_internal.lane_pauses (lane, until, reason)
        values (v.lane, now() + v_wait, coalesce(v_reason, format('the server answered %s', v.status)));
      end;
    end if;
    if v.served is not null then
      delete from postrider_internal.throttled_lanes s
       where s.ctid = (
               select x.ctid from postrider_internal.throttled_lanes x
                where x.lane = v.lane and (x.at < v.served or x.at > clock_timestamp()) for update skip locked);
      update postrider_internal.throttled_lanes s set streak = 0
       where s.ctid = (
               select x.ctid from postrider_internal.throttled_lanes x
                where x.lane = v.lane and x.streak > 0
                  and v.served > x.at - interval '1 s' * power(2, least(x.streak - 2, 9)) for update skip locked);
    end if;
  end loop;
end
$$;
comment on function postrider_internal.pause_throttled_lanes(postrider_internal.lane_signal[]) is
  'pauses lanes as their servers ask, never for less than they are paused already, and ends streaks of 429';
