-- SPDX-License-Identifier: Apache-2.0
-- after: operations/argument_check.sql, operations/argument_places.sql, operations/request_columns.sql
-- A body is a text in a spec, with the same meaning as in spec_value. jsonb_populate_record reads it as bytea, so here
-- it gets the form \x.
create or replace function postrider_internal.operation_plan(p_operation postrider.operations)
returns postrider_internal.operation_plans
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan postrider_internal.operation_plans;
  v_spec jsonb := jsonb_strip_nulls(jsonb_build_object('service', p_operation.service)) || p_operation.spec;
begin
  v_plan.operation := p_operation.name;
  v_plan.revision := p_operation.revision;
  v_plan.kind := case when v_spec ? 'chain' then 'chain' when v_spec ? 'batch' then 'batch' else 'request' end;
  if v_plan.kind = 'request' then
    v_spec := (select coalesce(jsonb_object_agg(
                        case k.key when 'rules' then 'operation_rules' else k.key end, case
                        when k.key = 'body' and k.value #>> '{}' !~ E'^\\\\x([0-9A-Fa-f]{2})*$'
                        then to_jsonb(E'\\x' || encode(convert_to(k.value #>> '{}', 'UTF8'), 'hex'))
                        when k.key = 'method' then to_jsonb(upper(k.value #>> '{}' collate "C"))
                        else k.value end), '{}')
                 from jsonb_each(v_spec) k where k.key <> 'kind' and k.value <> 'null');
    v_spec := jsonb_build_object('tag', p_operation.name, 'operation_rules', null,
                                 'operation_revision', p_operation.revision) || v_spec;
  end if;
  v_plan.columns := v_spec;
  v_plan.closed := array(select c from unnest(postrider_internal.request_columns()) c
                          where c <> all (p_operation.overridable));
  v_plan.places := array(select p from postrider_internal.argument_places(v_spec) p);
  v_plan.types := p_operation.arguments;
  v_plan.argument_names := array(select rtrim(k, '?') from jsonb_object_keys(p_operation.arguments) k);
  v_plan.argument_check := postrider_internal.argument_check(p_operation.arguments);
  return v_plan;
end
$$;
comment on function postrider_internal.operation_plan(postrider.operations) is
  'an operation, prepared for the INSERT of jobs; its row must be valid';
