-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.cron_count_day(p_plan postrider_internal.cron_plan,
                                                             p_until time) returns bigint
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hour int := extract(hour from p_until);
  v_minute int := extract(minute from p_until);
  v_second int := extract(second from p_until);
  v_minutes int := length(replace(p_plan.minutes, '0', ''));
  v_seconds int := length(replace(p_plan.seconds, '0', ''));
begin
  return length(replace(left(p_plan.hours, v_hour), '0', '')) * v_minutes * v_seconds
    + case when substr(p_plan.hours, v_hour + 1, 1) = '1' then
        length(replace(left(p_plan.minutes, v_minute), '0', '')) * v_seconds
          + case when substr(p_plan.minutes, v_minute + 1, 1) = '1'
                 then length(replace(left(p_plan.seconds, v_second + 1), '0', '')) else 0 end
      else 0 end;
end
$$;
comment on function postrider_internal.cron_count_day(postrider_internal.cron_plan, time) is
  'how many ticks of a parsed cron expression a matching day has up to and including a time of day';
