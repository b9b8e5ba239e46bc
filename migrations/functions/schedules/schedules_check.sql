-- SPDX-License-Identifier: Apache-2.0
-- A given next_run_at stays until cron, timezone or enabled change.
create or replace function postrider_internal.schedules_check() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
  v_reason text;
  v_hint text;
  v_is_moved boolean := false;
  v_checks_spec boolean := true;
begin
  if tg_op = 'INSERT' then
    new.created_by := current_user;
  else
    new.created_by := old.created_by;
    -- The update of a tick by the leader.
    if row(new.name, new.cron, new.timezone, new.spec, new.enabled, new.overlap, new.catch_up, new.catch_up_limit,
           new.jitter, new.created_at)
       is not distinct from
       row(old.name, old.cron, old.timezone, old.spec, old.enabled, old.overlap, old.catch_up, old.catch_up_limit,
           old.jitter, old.created_at)
       and new.next_run_at is not null and isfinite(new.next_run_at) and new.enabled and new.skipped >= 0
         and new.missed >= 0
       and coalesce(new.last_job_id, 1) > 0 then
      return new;
    end if;
    v_is_moved := row(new.cron, new.timezone, new.enabled) is distinct from row(old.cron, old.timezone, old.enabled)
      and new.next_run_at is not distinct from old.next_run_at;
    -- If a spec became invalid because an object it names was deleted, the schedule can still be disabled.
    v_checks_spec := new.spec is distinct from old.spec or new.enabled and not old.enabled;
  end if;
  select d.column_name, d.reason, d.hint into v_column, v_reason, v_hint
    from postrider_internal.schedule_defect(new, v_checks_spec) d;
  perform postrider_internal.raise_column_error('schedules', v_column, v_reason, v_hint);
  if v_checks_spec then
    new.spec := postrider_internal.spec_times(new.spec, true);
  end if;
  if not new.enabled then
    new.next_run_at := null;
  elsif new.next_run_at is null or v_is_moved then
    new.next_run_at := postrider.cron_next(new.cron, new.timezone, now());
  end if;
  return new;
end
$$;
comment on function postrider_internal.schedules_check() is
  'row trigger of schedules: refuses invalid values by column, and sets next_run_at';

create or replace trigger schedules_check
  before insert or update on postrider.schedules
  for each row execute function postrider_internal.schedules_check();
