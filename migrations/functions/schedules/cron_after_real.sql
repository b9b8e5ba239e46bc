-- SPDX-License-Identifier: Apache-2.0
-- Walks over instants in order. Each instant whose local time matches is a tick. So a local time that occurs twice
-- makes two ticks, and one that the clock skips makes no tick. Two days reach over every change of a clock: Samoa once
-- skipped 24 hours.
create or replace function postrider_internal.cron_after_real(p_plan postrider_internal.cron_plan, p_zone text,
                                                              p_after timestamptz) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := date_trunc('second', p_after, 'UTC') + interval '1 s';
  v_local timestamp;
  v_offset interval;
  v_match timestamp;
  v_at timestamptz;
  v_end timestamptz;
begin
  loop
    v_local := v_from at time zone p_zone;
    v_offset := v_local - (v_from at time zone 'UTC');
    v_match := postrider_internal.cron_local(p_plan, v_local);
    if v_match is null then
      return null;
    end if;
    v_at := (v_match - v_offset) at time zone 'UTC';
    v_end := least(v_at, v_from + interval '2 days');
    if (v_end at time zone p_zone) - (v_end at time zone 'UTC') <> v_offset then
      -- The clock changes before the match, so the search begins again at the change.
      v_from := postrider_internal.zone_turn(p_zone, v_from, v_end);
    elsif v_at = v_end then
      return v_at;
    else
      v_from := (v_match - interval '2 days') at time zone p_zone;
    end if;
  end loop;
end
$$;
comment on function postrider_internal.cron_after_real(postrider_internal.cron_plan, text, timestamptz) is
  'the first instant after a time whose local time in a zone matches a parsed cron expression; null: none in 40 years';
