-- SPDX-License-Identifier: Apache-2.0
-- Checks the spec last, in the same way as submit. The error of the spec begins with the path in it.
create or replace function postrider_internal.schedule_defect(
  p_schedule postrider.schedules, p_with_spec boolean, out column_name text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nodes postrider_internal.spec_node[];
begin
  -- The error of PostgreSQL for a null would quote the whole row, including the spec.
  select d.c, 'must not be null', case d.c when 'name' then 'Choose one.'
    else 'Leave it out for its default.' end into column_name, reason, hint from (values
    (p_schedule.name is null, 'name'), (p_schedule.enabled is null, 'enabled'), (p_schedule.overlap is null, 'overlap'),
    (p_schedule.catch_up is null, 'catch_up'), (p_schedule.catch_up_limit is null, 'catch_up_limit'),
    (p_schedule.skipped is null, 'skipped'), (p_schedule.missed is null, 'missed'),
    (p_schedule.created_at is null, 'created_at')
  ) as d(bad, c)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;
  select d.c, d.r, d.h into column_name, reason, hint from (values
    (p_schedule.name = '' or length(p_schedule.name) > 200,
     'name', 'must have 1 to 200 characters', 'Its jobs carry it as tag.'),
    (p_schedule.overlap not in ('allow', 'skip'),
     'overlap', 'must be allow or skip', 'skip: no tick while the job before is unfinished.'),
    (p_schedule.catch_up not in ('none', 'one', 'all'),
     'catch_up', 'must be none, one or all', 'one: a single job for all ticks that were missed while no worker ran.'),
    (p_schedule.catch_up_limit not between 1 and 1000,
     'catch_up_limit', format('%s is out of range', p_schedule.catch_up_limit), 'Give 1 to 1000.'),
    (p_schedule.jitter < interval '0' or p_schedule.jitter > interval '1 day',
     'jitter', format('%s is out of range', p_schedule.jitter),
     'Give 0 to 1 day, like ''30 s''; leave it out for none.'),
    (p_schedule.skipped < 0, 'skipped', 'must be 0 or more', 'Leave it to Postrider.'),
    (p_schedule.missed < 0, 'missed', 'must be 0 or more', 'Leave it to Postrider.'),
    (p_schedule.last_job_id < 1, 'last_job_id', 'is not the id of a job', 'Leave it to Postrider.'),
    (not isfinite(p_schedule.created_at), 'created_at', 'must be a point in time', 'Leave it out for its default.'),
    (not isfinite(p_schedule.next_run_at),
     'next_run_at', 'must be a point in time', 'Leave it out and cron decides; set enabled to false for none.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;
  select d.column_name, d.reason, d.hint into column_name, reason, hint
    from postrider_internal.cron_defect(p_schedule.cron, p_schedule.timezone) d;
  if column_name is not null or not p_with_spec then
    return;
  end if;

  select 'spec', d.r, d.h into column_name, reason, hint from (values
    (p_schedule.spec is null, 'must not be null', 'Like {"url": "https://api.example.com/ping"}.'),
    (octet_length(p_schedule.spec::text) > 1048576, '$: is larger than 1 MB', 'Split it.'),
    (coalesce(p_schedule.spec -> 'run_at', 'null') <> 'null',
     '$.run_at: each tick sets it', 'Leave it out; see cron and jitter.'),
    (coalesce(p_schedule.spec -> 'expires_at', 'null') <> 'null',
     '$.expires_at: would be the same for every tick, and soon in the past', 'Leave it out.'),
    (coalesce(p_schedule.spec -> 'parent_id', 'null') <> 'null',
     '$.parent_id: a schedule''s job has no parent', 'Leave it out; the spec itself may be a chain or a batch.')
  ) as d(bad, r, h)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;
  begin
    perform postrider_internal.schedule_templates(postrider_internal.spec_nodes(p_schedule.spec, '$'));
    v_nodes := postrider_internal.spec_check(p_schedule.spec, '$', false);
    perform postrider_internal.spec_values(v_nodes, false);
  exception when sqlstate 'PR001' or sqlstate 'PR006' then
    get stacked diagnostics reason = message_text, hint = pg_exception_hint;
    column_name := 'spec';
  end;
end
$$;
comment on function postrider_internal.schedule_defect(postrider.schedules, boolean) is
  'the first column of a schedule that breaks a rule, the reason and a hint; nulls: valid';
