-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL also accepts abbreviations, which have no daylight saving, and POSIX rules, whose sign is reversed. A name
-- of an area and a place is neither. Other names are looked up, which reads each zone file of the database.
--
-- PostgreSQL reads CET, EET, MET and WET as abbreviations, although zones with daylight saving have these names too.
create or replace function postrider_internal.cron_defect(
  p_cron text, p_zone text, out column_name text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_cron is null then
    reason := 'must not be null';
  else
    select c.reason, c.hint into reason, hint from postrider_internal.cron_plan(p_cron) c;
  end if;
  if reason is not null then
    column_name := 'cron';
    select coalesce(u.reason, cron_defect.reason), coalesce(u.hint, cron_defect.hint) into reason, hint
      from postrider_internal.cron_unsupported(p_cron) u;
    hint := coalesce(hint, 'Like ''*/15 9-17 * * mon-fri'': minute, hour, day, month, weekday. Six fields begin with the second.');
    return;
  end if;
  if lower(p_zone collate "C") in ('cet', 'eet', 'met', 'wet') then
    column_name := 'timezone';
    reason := format('PostgreSQL reads %s without daylight saving', upper(p_zone collate "C"));
    hint := 'Give a place, like Europe/Berlin, Europe/Athens or Europe/Lisbon; for no daylight saving an offset like Etc/GMT-1.';
    return;
  end if;
  begin
    perform now() at time zone p_zone;
    if p_zone ~ '^[A-Za-z_]+(/[A-Za-z_-]+)+$' or upper(p_zone collate "C") = 'UTC'
       or exists (select from pg_timezone_names z where lower(z.name collate "C") = lower(p_zone collate "C")) then
      return;
    end if;
  exception when invalid_parameter_value then
    null;
  end;
  column_name := 'timezone';
  reason := coalesce(quote_literal(p_zone) || ' is not a time zone of the database', 'must not be null');
  hint := 'Give an IANA name like Europe/Berlin, or UTC; select name from pg_timezone_names shows all.';
end
$$;
comment on function postrider_internal.cron_defect(text, text) is
  'what is wrong with a cron expression or a time zone, and a hint; nulls: valid';
