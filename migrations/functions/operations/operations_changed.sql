-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.operations_changed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from postrider_internal.operation_plans p where p.operation = new.name;
  insert into postrider_internal.operation_plans select p.* from postrider_internal.stored_plan(new) p;
  return null;
end
$$;
comment on function postrider_internal.operations_changed() is
  'row trigger of operations: prepares the operation for the INSERT of jobs';

create or replace trigger operations_changed
  after insert or update on postrider.operations
  for each row execute function postrider_internal.operations_changed();
