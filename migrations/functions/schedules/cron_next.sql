-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.cron_next(cron text, timezone text default 'UTC', after timestamptz default now())
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_defect record;
  v_cron record;
begin
  select d.* into v_defect from postrider_internal.cron_defect(cron, timezone) d;
  if v_defect.reason is not null then
    raise exception using errcode = 'PR001', message = format('%s: %s', v_defect.column_name, v_defect.reason),
      hint = v_defect.hint;
  end if;
  if after not between '0001-01-01 00:00+00' and '9000-01-01 00:00+00' then
    raise exception using errcode = 'PR001', message = 'after: must be a time between the years 1 and 9000',
      hint = 'Leave it out for now.';
  end if;
  select c.* into v_cron from postrider_internal.cron_plan(cron) c;
  return postrider_internal.cron_after(v_cron.plan, timezone, after);
end
$$;
comment on function postrider.cron_next(text, text, timestamptz) is
  'returns the first time after a given time at which a cron expression fires in a time zone';
