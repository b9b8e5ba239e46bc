-- SPDX-License-Identifier: Apache-2.0
-- Counts by the calendar, so a year with ticks each second costs as much as a day of them: it reads 12 months. If the
-- offset of the zone differs at the ends and there are few ticks, it walks over them instead. Otherwise the count may
-- differ by the ticks of the hours that changed.
create or replace function postrider_internal.cron_count(
  p_plan postrider_internal.cron_plan, p_zone text, p_from timestamptz, p_to timestamptz) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamp := date_trunc('second', p_from at time zone p_zone);
  v_to timestamp := date_trunc('second', p_to at time zone p_zone);
  v_month date := date_trunc('month', v_from);
  v_days text;
  v_end int;
  v_count bigint := 0;
  v_walked bigint := 0;
  v_at timestamptz := p_from;
begin
  if p_to <= p_from then
    return 0;
  end if;
  -- Whole local days before the end, minus the whole local days before the start.
  while v_month <= v_to loop
    v_days := postrider_internal.cron_days(p_plan, v_month);
    if substr(p_plan.months, extract(month from v_month)::int, 1) = '1' then
      v_end := least(v_to::date - v_month, length(v_days));
      v_count := v_count + length(replace(substr(v_days, 1, v_end), '0',
                                          '')) * postrider_internal.cron_count_day(p_plan, time '24:00')
        + case when v_end < length(v_days) and substr(v_days, v_end + 1, 1) = '1'
          then postrider_internal.cron_count_day(p_plan, v_to::time) else 0 end;
      if v_month = date_trunc('month', v_from) then
        v_end := v_from::date - v_month;
        v_count := v_count - length(replace(substr(v_days, 1, v_end), '0',
                                            '')) * postrider_internal.cron_count_day(p_plan, time '24:00')
          - case when substr(v_days, v_end + 1, 1) = '1' then postrider_internal.cron_count_day(p_plan, v_from::time)
            else 0 end;
      end if;
    end if;
    v_month := v_month + interval '1 month';
  end loop;
  if v_count > 200 or v_to - v_from = p_to - p_from then
    return v_count;
  end if;
  loop
    v_at := postrider_internal.cron_after(p_plan, p_zone, v_at);
    exit when v_at is null or v_at > p_to or v_walked > 1000;
    v_walked := v_walked + 1;
  end loop;
  return v_walked;
end
$$;
comment on function postrider_internal.cron_count(postrider_internal.cron_plan, text, timestamptz, timestamptz) is
  'how many ticks of a parsed cron expression lie after p_from and at or before p_to';
