-- SPDX-License-Identifier: Apache-2.0
-- The spec is checked last, like a job, with sample arguments.
create or replace function postrider_internal.operation_defect(
  p_operation postrider.operations, out column_name text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select d.c, d.r, d.h into column_name, reason, hint from (values
    (p_operation.name is null, 'name', 'must not be null', 'Like accounts.get_user.'),
    (p_operation.name = '' or length(p_operation.name) > 200 or p_operation.name ~ '[[:cntrl:]]',
     'name', 'must have 1 to 200 characters on one line', 'Jobs refer to the operation by this name.'),
    (p_operation.arguments is null, 'arguments', 'must not be null', 'Leave it out for no arguments.'),
    (p_operation.overridable is null, 'overridable', 'must not be null', 'Leave it out for none.'),
    (p_operation.spec is null, 'spec', 'must not be null', 'Like {"url": "users/{{arg.id}}"}.'),
    (jsonb_typeof(p_operation.spec) <> 'object', 'spec', 'must be an object', 'Like {"url": "users/{{arg.id}}"}.'),
    (octet_length(p_operation.spec::text) > 1048576, 'spec', 'is larger than 1 MB', 'Split it into several operations.'),
    (p_operation.created_at is null, 'created_at', 'must not be null', 'Leave it out for its default.'),
    (p_operation.updated_at is null, 'updated_at', 'must not be null', 'Leave it out for its default.'),
    (p_operation.service is not null
       and not exists (select from postrider.services s where s.name = p_operation.service),
     'service', format('there is no service %s', quote_literal(p_operation.service)),
     'Insert it into postrider.services first.')
  ) as d(bad, c, r, h) where d.bad limit 1;
  if column_name is not null then
    return;
  end if;

  select 'overridable', format('%s is not a column that an operation closes', coalesce(quote_literal(o), 'null')),
         'Choose among ' || array_to_string(postrider_internal.request_columns(), ', ') || '.'
    into column_name, reason, hint
    from unnest(p_operation.overridable) o where o = any (postrider_internal.request_columns()) is not true limit 1;
  if column_name is not null then
    return;
  end if;
  select 'arguments', d.reason, d.hint into column_name, reason, hint
    from postrider_internal.argument_type_defect(p_operation.arguments) d where d.reason is not null;
  if column_name is not null then
    return;
  end if;

  column_name := 'spec';
  select format('%s: is a literal secret, which every client could read', s.place),
         'Put it into postrider.credentials, and name the credential.' into reason, hint
    from postrider_internal.operation_secret(p_operation.spec) s (place) where s.place is not null;
  if reason is not null then
    return;
  end if;
  select format('%s: is given with each job, not by an operation', k), 'Leave it out.' into reason, hint
    from jsonb_object_keys(p_operation.spec) k
   where k in ('parent_id', 'position', 'name', 'run_at', 'expires_at', 'operation', 'arguments', 'argument_types')
   limit 1;
  if reason is not null then
    return;
  end if;
  select d.reason, d.hint into reason, hint from postrider_internal.operation_place_defect(p_operation) d;
  if reason is not null then
    return;
  end if;
  select d.reason, d.hint into reason, hint from postrider_internal.operation_sample_defect(p_operation) d;
  if reason is null then
    column_name := null;
  end if;
end
$$;
comment on function postrider_internal.operation_defect(postrider.operations) is
  'the first column of an operation that breaks a rule, the reason and a hint; nulls: valid';
