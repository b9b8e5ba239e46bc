-- SPDX-License-Identifier: Apache-2.0
-- p_operations: objects with name, description, arguments and spec. p_names: all names in the file, so that an
-- operation that could not be taken does not count as gone.
--
-- The lock lets one import at a time run, and keeps an edit from coming between the comparison and the UPDATE. Jobs are
-- inserted meanwhile. A refused operation does not stop the others.
create or replace function postrider_internal.import_operations(
  p_service text, p_operations jsonb, p_names text[], p_overwrites_edited boolean)
returns table (name text, outcome text, reason text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_new record;
  v_old postrider.operations;
begin
  lock table postrider.operations in share row exclusive mode;
  for v_new in
    select o.value ->> 'name' as name, o.value ->> 'description' as description, o.value -> 'arguments' as arguments,
           o.value -> 'spec' as spec
      from jsonb_array_elements(p_operations) with ordinality o (value, place) order by o.place
  loop
    name := v_new.name;
    reason := null;
    select o.* into v_old from postrider.operations o where o.name = v_new.name;
    begin
      if v_old.name is null then
        insert into postrider.operations (name, service, description, arguments, spec)
        values (v_new.name, p_service, v_new.description, v_new.arguments, v_new.spec);
        outcome := 'added';
      elsif row(v_old.service, v_old.description, v_old.arguments, v_old.spec)
            is not distinct from row(p_service, v_new.description, v_new.arguments, v_new.spec) then
        outcome := 'same';
      elsif not p_overwrites_edited
            and not exists (
              select from postrider_internal.imported_operations i
               where i.operation = v_old.name and i.digest = postrider_internal.operation_digest(v_old)) then
        outcome := 'kept';
      else
        update postrider.operations o
           set service = p_service, description = v_new.description, arguments = v_new.arguments, spec = v_new.spec,
               overridable = '{}'
         where o.name = v_new.name;
        outcome := 'changed';
      end if;
      if outcome <> 'kept' then
        insert into postrider_internal.imported_operations (operation, digest)
        select o.name, postrider_internal.operation_digest(o) from postrider.operations o where o.name = v_new.name
            on conflict (operation) do update set digest = excluded.digest;
      end if;
    exception when sqlstate 'PR001' or data_exception or program_limit_exceeded then
      get stacked diagnostics reason = message_text;
      outcome := 'refused';
    end;
    return next;
  end loop;
  return query
    select o.name, 'gone'::text, null::text
      from postrider_internal.imported_operations i
      join postrider.operations o on o.name = i.operation
     where o.service = p_service and o.name <> all (p_names)
     order by o.name;
end
$$;
comment on function postrider_internal.import_operations(text, jsonb, text[], boolean) is
  'writes the operations of an OpenAPI file; added, changed, same, kept (edited since), refused or gone for each';
