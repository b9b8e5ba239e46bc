-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL also takes abbreviations, which have no daylight saving, and POSIX rules, whose sign is the other way round. A
-- name of an area and a place is neither; the others are looked up, which reads every file of the database's zones.
create or replace function postrider.cron_defect(
  p_cron text, p_zone text, out column_name text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_cron is null then
    reason := 'must not be null';
  else
    select c.reason into reason from postrider.cron_plan(p_cron) c;
  end if;
  if reason is not null then
    column_name := 'cron';
    hint := 'Like ''*/15 9-17 * * mon-fri'': minute, hour, day of the month, month, day of the week; or six with the second first; or @daily.';
    return;
  end if;
  begin
    perform now() at time zone p_zone;
    if p_zone ~ '^[A-Za-z_]+(/[A-Za-z_-]+)+$' or p_zone = 'UTC'
       or exists (select from pg_timezone_names z where z.name = p_zone) then
      return;
    end if;
  exception when invalid_parameter_value then
    null;
  end;
  column_name := 'timezone';
  reason := coalesce(quote_literal(p_zone) || ' is no zone that the database knows', 'must not be null');
  hint := 'Give an IANA name like Europe/Berlin, or UTC; select name from pg_timezone_names shows all.';
end
$$;
comment on function postrider.cron_defect(text, text) is
  'private: what is wrong with a cron expression or a time zone, and what would be right; nulls if both are good';
