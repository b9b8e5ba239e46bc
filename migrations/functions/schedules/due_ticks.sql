-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- A tick is missed if it is more than a minute late. A tick that later ticks followed is also missed if no worker was
-- present: none was enlisted, or all had left. So a take-over from a dead leader or a restart misses nothing. A lost
-- worker counts as present until it was declared lost; after that the next leader must be present.
--
-- The newest ticks count. So the search goes back from the present, further each time, until it has enough ticks and
-- one that is left out. The length of an outage costs nothing.
create or replace function postrider_internal.due_ticks(
  p_schedule postrider.schedules, p_plan postrider_internal.cron_plan, p_now timestamptz,
  out ticks timestamptz[], out missed bigint, out last_missed_at timestamptz)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted int := case p_schedule.catch_up when 'none' then 0 when 'one' then 1
                    else case p_schedule.overlap when 'skip' then 1 else p_schedule.catch_up_limit end end;
  v_from timestamptz := p_now - interval '1 min';
  v_ticks timestamptz[];
  v_tick timestamptz;
begin
  loop
    if v_from < p_schedule.next_run_at then
      v_tick := p_schedule.next_run_at;
      v_ticks := array[v_tick];
    else
      v_tick := v_from;
      v_ticks := '{}';
    end if;
    loop
      v_tick := postrider_internal.cron_after(p_plan, p_schedule.timezone, v_tick);
      exit when v_tick > p_now or v_tick is null;
      v_ticks := v_ticks || v_tick;
    end loop;
    select array_agg(d.tick order by d.tick) filter (where d.is_made), max(d.tick) filter (where not d.is_made)
      into ticks, last_missed_at
      from (select t.tick, t.nth <= v_wanted
                     or t.tick >= p_now - interval '1 min'
                        and (t.nth = 1
                             or exists (
                                  select from postrider_internal.workers w
                                   where w.started_at <= t.tick
                                     and t.tick <= least(case when w.ended_at is null or w.lost
                                                         then w.heartbeat_at + interval '1 min' end, w.ended_at)))
                     as is_made
              from (select u.tick, row_number() over (order by u.tick desc) as nth from unnest(v_ticks) u (tick)) t) d;
    exit when v_from < p_schedule.next_run_at or cardinality(v_ticks) >= v_wanted and last_missed_at is not null;
    v_from := p_now - 4 * (p_now - v_from);
  end loop;
  ticks := coalesce(ticks, '{}');
  missed := case
    when last_missed_at is null then 0
    when v_from < p_schedule.next_run_at then cardinality(v_ticks)
    else 1 + postrider_internal.cron_count(p_plan, p_schedule.timezone, p_schedule.next_run_at,
                                           p_now) end - cardinality(ticks);
  missed := greatest(missed, (last_missed_at is not null)::int);
end
$$;
comment on function postrider_internal.due_ticks(postrider.schedules, postrider_internal.cron_plan, timestamptz) is
  'the due ticks that must make jobs after catch_up, oldest first; the number missed, and the latest of these';
