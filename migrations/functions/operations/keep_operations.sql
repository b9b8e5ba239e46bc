-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.keep_operations() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_users text;
begin
  select string_agg(u.kind || ' ' || quote_literal(u.name), ', ' order by u.kind, u.name) into v_users
    from (select 'schedule' as kind, s.name from postrider.schedules s
           where old.name = any (postrider_internal.operation_references(s.spec))
          union all
          select 'operation', o.name from postrider.operations o
           where o.name <> old.name and old.name = any (postrider_internal.operation_references(o.spec))
          limit 10) u;
  if v_users is not null then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'operations', column = 'name',
      message = format('operations.name: %s is used by %s', quote_literal(old.name), v_users),
      hint = 'Change these first, then delete or rename the operation.';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$$;
comment on function postrider_internal.keep_operations() is
  'row trigger of operations: refuses to delete or rename one that a schedule or another operation names';

create or replace trigger keep_deleted_operations
  before delete on postrider.operations
  for each row execute function postrider_internal.keep_operations();

create or replace trigger keep_renamed_operations
  before update of name on postrider.operations
  for each row when (new.name <> old.name) execute function postrider_internal.keep_operations();
