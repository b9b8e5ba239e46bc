-- SPDX-License-Identifier: Apache-2.0
-- Called for an expression that cron_plan refuses. It may come from Quartz, systemd, Jenkins, pg_cron, Go or a cloud's
-- scheduler.
create or replace function postrider_internal.cron_unsupported(p_cron text, out reason text, out hint text)
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := btrim(p_cron, E' \t\r\n');
  v_word text;
begin
  select d.r, d.h into reason, hint from (values
    (E'^@every', '@every is not supported',
     'Write */30 * * * * for 30 minutes, two schedules for 90 minutes: 0 0-23/3 * * * and 30 1-23/3 * * *.'),
    (E'^@reboot', '@reboot is not supported', 'Call postrider.run_schedule(name) when your system has started.'),
    (E'^@(week|work)days?$', 'is not a known shorthand', 'Write 0 0 * * mon-fri.'),
    (E'^@weekends?$', 'is not a known shorthand', 'Write 0 0 * * sat,sun.'),
    (E'^(cron_)?tz=', 'a time zone inside of cron is not supported', 'Give the zone in the column timezone.'),
    (E'^rate\\(', 'rate(...) is not supported', 'Write a step: */5 * * * * is every 5 minutes.'),
    (E'^cron\\(', 'cron(...) is not supported',
     'Write the fields alone and leave out the year: minute, hour, day of the month, month, day of the week.')
  ) as d(pattern, r, h)
  where lower(v_text collate "C") ~ d.pattern limit 1;
  if found then
    return;
  end if;
  if v_text ~ E'^[^ \\t]+([ \\t]+[^ \\t]+){6}$' then
    reason := 'has 7 fields, and a year is not supported';
    hint := 'Leave the year out. Six fields begin with the second.';
    return;
  end if;
  foreach v_word in array regexp_split_to_array(v_text, E'[ \\t\\r\\n,]+') loop
    select format(d.r, left(v_word, 50)), d.h into reason, hint from (values
      (E'(^|[-0-9l])w$', '%s: W, the nearest weekday, is not supported',
       'Name a day, like 15, or a weekday of the month: mon#3 is the third Monday, friL the last Friday.'),
      (E'^l-', '%s: a day counted back from L is not supported',
       'L is the last day of the month, friL its last Friday; or name a day that each month has, like 25.'),
      (E'\\$', '%s: $ is not supported', 'L is the last day of the month, friL its last Friday.'),
      (E'^h($|[/(])', '%s: H is not supported', 'Write a value, and set the column jitter to spread the jobs.'),
      (E'~', '%s: a random value is not supported', 'Write a value, and set the column jitter to spread the jobs.'),
      (E'^(sun|mon|tues|wednes|thurs|fri|satur)day|^(janu|febru)ary|^(march|april|june|july|august)|^(septem|octo|novem|decem)ber',
       '%s: a full name is not supported', 'Write the first three letters, like mon or jan.'),
      (E'^[?]$', '%s is for the two day fields only',
       'Write * for any value. Six fields begin with the second, and there is no year.')
    ) as d(pattern, r, h)
    where lower(v_word collate "C") ~ d.pattern limit 1;
    if found then
      return;
    end if;
  end loop;
end
$$;
comment on function postrider_internal.cron_unsupported(text) is
  'the syntax of another cron dialect that an expression uses, and its replacement; nulls: none';
