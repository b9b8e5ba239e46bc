-- SPDX-License-Identifier: Apache-2.0
-- Finds the next matching month, day, hour, minute and second in turn. If there is no match, the unit above advances by
-- one. Within 40 years each combination of date and weekday occurs, also across a century without a leap day.
create or replace function postrider_internal.cron_local(p_plan postrider_internal.cron_plan,
                                                         p_from timestamp) returns timestamp
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_year int := extract(year from p_from);
  v_month int := extract(month from p_from);
  v_day int := extract(day from p_from);
  v_hour int := extract(hour from p_from);
  v_minute int := extract(minute from p_from);
  v_second int := extract(second from p_from);
  v_last int := v_year + 40;
  v_step int;
begin
  while v_year <= v_last loop
    v_step := strpos(substr(p_plan.months, v_month), '1') - 1;
    if v_step <> 0 then
      v_year := v_year + (v_step < 0)::int;
      v_month := case when v_step < 0 then 1 else v_month + v_step end;
      v_day := 1;
      v_hour := 0;
      v_minute := 0;
      v_second := 0;
      continue;
    end if;
    v_step := strpos(substr(postrider_internal.cron_days(p_plan, make_date(v_year, v_month, 1)), v_day), '1') - 1;
    if v_step < 0 then
      v_year := v_year + (v_month = 12)::int;
      v_month := v_month % 12 + 1;
      v_day := 1;
    else
      v_day := v_day + v_step;
    end if;
    if v_step <> 0 then
      v_hour := 0;
      v_minute := 0;
      v_second := 0;
      continue when v_step < 0;
    end if;
    v_step := strpos(substr(p_plan.hours, v_hour + 1), '1') - 1;
    if v_step > 0 then
      v_minute := 0;
      v_second := 0;
    end if;
    if v_step >= 0 then
      v_hour := v_hour + v_step;
      v_step := strpos(substr(p_plan.minutes, v_minute + 1), '1') - 1;
      if v_step > 0 then
        v_second := 0;
      end if;
      if v_step >= 0 then
        v_minute := v_minute + v_step;
        v_step := strpos(substr(p_plan.seconds, v_second + 1), '1') - 1;
        if v_step >= 0 then
          return make_timestamp(v_year, v_month, v_day, v_hour, v_minute, v_second + v_step);
        end if;
        v_minute := v_minute + 1;
      else
        v_hour := v_hour + 1;
        v_minute := 0;
      end if;
      v_second := 0;
      -- An hour of 24, like a minute of 60, matches nothing, and the next round advances the unit above.
    else
      v_day := v_day + 1;
      v_hour := 0;
      v_minute := 0;
      v_second := 0;
    end if;
  end loop;
  return null;
end
$$;
comment on function postrider_internal.cron_local(postrider_internal.cron_plan, timestamp) is
  'the first local time from p_from on, in whole seconds, that a cron expression matches; null: none in 40 years';
