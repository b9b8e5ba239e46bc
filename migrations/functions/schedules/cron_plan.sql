-- SPDX-License-Identifier: Apache-2.0
-- As in Debian's cron, the first character of a field decides. If a day field begins with *, only the other day field
-- limits the days. If the hour field begins with *, ticks follow real time. ? stands for *.
create or replace function postrider_internal.cron_plan(p_cron text, out plan postrider_internal.cron_plan,
                                                        out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := '{second,minute,hour,day of the month,month,day of the week}';
  v_lows constant int[] := '{0,0,0,1,1,0}';
  v_highs constant int[] := '{59,59,23,31,12,6}';
  v_months constant text[] := '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}';
  v_weekdays constant text[] := '{sun,mon,tue,wed,thu,fri,sat}';
  -- For each field, what to write instead of a step that is longer than the field.
  v_instead constant text[] := array[
    '', 'Two schedules make every 90 minutes: 0 0-23/3 * * * and 30 1-23/3 * * *.', 'Every second day is 0 0 */2 * *.',
    'The first Friday of a month is fri#1 as day of the week.', '', ''];
  v_text text := lower(btrim(p_cron, E' \t') collate "C");
  v_fields text[];
  v_items text[];
  v_special text[];
  v_field record;
  v_parts text[];
  v_day int;
  v_bits text;
begin
  if v_text like '@%' then
    v_text := case v_text when '@yearly' then '0 0 1 1 *' when '@annually' then '0 0 1 1 *' when '@monthly'
      then '0 0 1 * *'
      when '@weekly' then '0 0 * * 0' when '@daily' then '0 0 * * *' when '@midnight' then '0 0 * * *' when '@hourly'
        then '0 * * * *' end;
    if v_text is null then
      reason := format('%s is not a known shorthand', left(btrim(p_cron), 50));
      hint := 'Known are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly.';
      return;
    end if;
  end if;
  v_fields := regexp_split_to_array(v_text, E'[ \\t]+');
  if cardinality(v_fields) = 5 then
    v_fields := '0'::text || v_fields;
  end if;
  if cardinality(v_fields) <> 6 or v_text = '' then
    reason := format('has %s fields', case when v_text = '' then 0
                     else cardinality(regexp_split_to_array(v_text, E'[ \\t]+')) end);
    return;
  end if;

  plan.is_last_day := false;
  plan.nths := repeat('0', 35);
  plan.lasts := repeat('0', 7);
  for i in 1 .. 6 loop
    if v_fields[i] = '?' and i in (4, 6) then
      v_fields[i] := '*';
    end if;
    if v_fields[i] = '*' or i < 3 and v_fields[i] = '0' then
      v_bits := case v_fields[i] when '*' then repeat('1', v_highs[i] - v_lows[i] + 1) else rpad('1', 60, '0') end;
    else
      v_items := string_to_array(v_fields[i], ',');
      -- L and # stand for days that depend on the month.
      v_special := case i when 4 then array(select t from unnest(v_items) t where t = 'l')
                          when 6 then array(select t from unnest(v_items) t
                                            where t ~ E'^([a-z]{3}|[0-9])(#.*|l)$' or t ~ E'^l([a-z]{3}|[0-9])$') end;
      v_items := array(select t from unnest(v_items) t where t <> all (coalesce(v_special, '{}')));
      select f.bits, f.reason, f.hint into v_field
        from postrider_internal.cron_field(v_items, v_lows[i], v_highs[i], case i when 5 then v_months when 6
                                           then v_weekdays end) f;
      if v_field.reason is not null then
        reason := format('%s: %s', v_names[i], v_field.reason);
        hint := rtrim(v_field.hint || ' ' || v_instead[i]);
        return;
      end if;
      v_bits := v_field.bits;
    end if;
    case i
      when 1 then plan.seconds := v_bits;
      when 2 then plan.minutes := v_bits;
      when 3 then plan.hours := v_bits;
      when 4 then
        plan.days := v_bits;
        plan.is_last_day := coalesce(v_special <> '{}', false);
      when 5 then plan.months := v_bits;
      when 6 then plan.weekdays := v_bits;
    end case;
  end loop;
  for i in 1 .. case v_fields[6] when '*' then 0 else cardinality(v_special) end loop
    v_parts := regexp_match(v_special[i], E'^(?:([a-z]{3}|[0-9])#([1-5])|([a-z]{3}|[0-9])l|l([a-z]{3}|[0-9]))$');
    v_items := array[coalesce(v_parts[1], v_parts[3], v_parts[4])];
    select f.bits, f.reason into v_field from postrider_internal.cron_field(v_items, 0, 6, v_weekdays) f
      where v_parts is not null;
    if v_parts is null or v_field.reason is not null then
      reason := format('day of the week: %s is neither like 1#2, the second Monday, nor like 5L, the last Friday',
                       quote_literal(v_special[i]));
      return;
    end if;
    v_day := strpos(v_field.bits, '1');
    if v_parts[2] is null then
      plan.lasts := overlay(plan.lasts placing '1' from v_day);
    else
      plan.nths := overlay(plan.nths placing '1' from (v_parts[2]::int - 1) * 7 + v_day);
    end if;
  end loop;
  plan.is_either := not (starts_with(v_fields[4], '*') or starts_with(v_fields[6], '*'));
  plan.is_real_time := starts_with(v_fields[3], '*');
  -- A leap year has all possible days, in months of each length. A weekday with a number limits the days further.
  if not plan.is_either
     and (not exists (
            select from generate_series(1, 12) m
             where substr(plan.months, m, 1) = '1'
               and (plan.is_last_day or strpos(substr(plan.days, 1, case when m = 2 then 29 when m in (4, 6, 9, 11)
                                                      then 30 else 31 end), '1') > 0))
          or (strpos(plan.nths || plan.lasts, '1') > 0 and strpos(plan.days, '0') > 0
              and postrider_internal.cron_local(plan, timestamp '2000-01-01') is null)) then
    reason := 'never fires: none of its months has such a day';
    hint := 'Give a day that one of the months has; L is the last day of each.';
  end if;
end
$$;
comment on function postrider_internal.cron_plan(text) is 'a parsed cron expression, or the reason why it is invalid';
