-- SPDX-License-Identifier: Apache-2.0
-- Stores the plan of a new row before the row, so that a later row of the same INSERT can name the operation.
-- operations_changed stores it after the row. ON CONFLICT may leave the row out, so a plan that exists stays here.
create or replace function postrider_internal.operations_check() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
  v_reason text;
  v_hint text;
begin
  if tg_op = 'INSERT' then
    new.revision := 1;
    new.updated_at := now();
  elsif row(new.name, new.service, new.arguments, new.spec, new.overridable)
        is distinct from row(old.name, old.service, old.arguments, old.spec, old.overridable) then
    new.revision := old.revision + 1;
    new.updated_at := now();
  else
    new.revision := old.revision;
    new.updated_at := old.updated_at;
    return new;
  end if;
  select d.column_name, d.reason, d.hint into v_column, v_reason, v_hint
    from postrider_internal.operation_defect(new) d;
  perform postrider_internal.raise_column_error('operations', v_column, v_reason, v_hint);
  if tg_op = 'INSERT' then
    insert into postrider_internal.operation_plans select p.* from postrider_internal.stored_plan(new) p
        on conflict do nothing;
  end if;
  return new;
end
$$;
comment on function postrider_internal.operations_check() is
  'row trigger of operations: refuses invalid values by column, and counts the revision';

create or replace trigger operations_check
  before insert or update on postrider.operations
  for each row execute function postrider_internal.operations_check();
