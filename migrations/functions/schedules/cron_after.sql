-- SPDX-License-Identifier: Apache-2.0
-- If the hours are fixed, walks over local times in order. A local time that the clock of the zone skips means the
-- first instant after the gap. If two instants show the same local time, the first counts.
create or replace function postrider_internal.cron_after(p_plan postrider_internal.cron_plan, p_zone text,
                                                         p_after timestamptz) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_local timestamp := date_trunc('second', p_after at time zone p_zone);
  v_at timestamptz;
  v_before interval;
  v_after interval;
  v_turn timestamptz;
begin
  if p_plan.is_real_time then
    return postrider_internal.cron_after_real(p_plan, p_zone, p_after);
  end if;
  loop
    v_local := postrider_internal.cron_local(p_plan, v_local + interval '1 s');
    if v_local is null then
      return null;
    end if;
    v_at := v_local at time zone p_zone;
    v_before := ((v_at - interval '1 day') at time zone p_zone) - ((v_at - interval '1 day') at time zone 'UTC');
    v_after := ((v_at + interval '1 day') at time zone p_zone) - ((v_at + interval '1 day') at time zone 'UTC');
    if v_before <> v_after then
      v_at := (v_local - v_before) at time zone 'UTC';
      if v_at at time zone p_zone <> v_local then
        v_at := (v_local - v_after) at time zone 'UTC';
        if v_at at time zone p_zone <> v_local then
          v_at := postrider_internal.zone_turn(p_zone, v_at, (v_local - v_before) at time zone 'UTC');
        end if;
      end if;
    end if;
    if v_at > p_after then
      return v_at;
    end if;
    -- p_after lies in the repeated hours, which end at the local time at which the first pass ended.
    v_turn := postrider_internal.zone_turn(p_zone, v_at, v_at + (v_before - v_after));
    v_local := greatest(v_local, (v_turn at time zone 'UTC') + v_before - interval '1 s');
  end loop;
end
$$;
comment on function postrider_internal.cron_after(postrider_internal.cron_plan, text, timestamptz) is
  'the first instant after a time that a parsed cron expression matches in a time zone; null: none in 40 years';
