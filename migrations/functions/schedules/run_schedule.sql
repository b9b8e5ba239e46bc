-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.run_schedule(name text) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_schedule postrider.schedules;
  v_id bigint;
begin
  perform postrider_internal.raise_null_argument('name', run_schedule.name is null,
                                                 'Give the name of a schedule; see select name from postrider.schedule_status.');
  select * into v_schedule from postrider.schedules s where s.name = run_schedule.name for update;
  if not found then
    raise exception using errcode = 'PR003',
      message = format('schedule %s does not exist', quote_literal(run_schedule.name)),
      hint = 'Look it up in postrider.schedule_status.';
  end if;
  if v_schedule.overlap = 'skip' and not postrider_internal.job_has_ended(v_schedule.last_job_id) then
    return null;
  end if;
  v_id := postrider_internal.submit_tick(v_schedule, now());
  perform postrider_internal.record_schedule_run(v_schedule.name, v_id);
  update postrider.schedules s
     set last_run_at = now(), last_job_id = v_id, last_error = null
   where s.name = run_schedule.name and v_id is not null;
  return v_id;
end
$$;
comment on function postrider.run_schedule(text) is
  'makes a job of a schedule now, even if disabled; returns its id; null: a dedupe_key or overlap prevented it';
