-- SPDX-License-Identifier: Apache-2.0
-- Texts by weekday begin with Sunday. Repeated and cut at the weekday of the first day, they have one character for
-- each day of the month. Each seven characters of nths stand for seven days of the month. The last of each weekday lies
-- in the last seven days, so lasts is shifted to the end.
create or replace function postrider_internal.cron_days(p_plan postrider_internal.cron_plan, p_month date) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_length int := extract(day from p_month + interval '1 month' - interval '1 day');
  v_first int := extract(dow from p_month);
  v_month text := overlay(substr(p_plan.days, 1, v_length)
    placing case when p_plan.is_last_day then '1' else substr(p_plan.days, v_length, 1) end from v_length);
  v_week text := '';
begin
  if strpos(p_plan.weekdays, '0') = 0 and not p_plan.is_either then
    return v_month;
  end if;
  for v_nth in 0 .. 4 loop
    v_week := v_week || substr(repeat(substr(p_plan.nths, v_nth * 7 + 1, 7), 2), v_first + 1, 7);
  end loop;
  v_week := (substr(repeat(p_plan.weekdays, 6), v_first + 1, v_length)::varbit
    | substr(v_week, 1, v_length)::varbit
    | lpad(substr(repeat(p_plan.lasts, 2), (v_first + v_length - 7) % 7 + 1, 7), v_length, '0')::varbit)::text;
  return case when p_plan.is_either then v_month::varbit | v_week::varbit
    else v_month::varbit & v_week::varbit end::text;
end
$$;
comment on function postrider_internal.cron_days(postrider_internal.cron_plan, date) is
  'the days of a month, given by its first day, that match: a character for each, 1 or 0';
