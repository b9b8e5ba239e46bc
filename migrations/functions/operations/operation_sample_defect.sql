-- SPDX-License-Identifier: Apache-2.0
-- A chain or batch is read as submit reads it. Operations that it names must exist, and must not lead back to it.
create or replace function postrider_internal.operation_sample_defect(
  p_operation postrider.operations, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan postrider_internal.operation_plans;
  v_spec jsonb;
  v_cycle text;
  v_nodes postrider_internal.spec_node[];
begin
  with recursive named (name, trail) as (
    select r.name, array[r.name] from unnest(postrider_internal.operation_references(p_operation.spec)) r (name)
    union all
    select r.name, n.trail || r.name
      from named n
      join postrider_internal.operation_plans o on o.operation = n.name and o.operation <> p_operation.name
     cross join lateral unnest(postrider_internal.operation_references(o.columns)) r (name)
     where r.name <> all (n.trail) and cardinality(n.trail) < 33)
  select array_to_string(n.trail, ' → ') into v_cycle from named n where n.name = p_operation.name limit 1;
  if found then
    reason := format('%s → %s: the operation leads back to itself', p_operation.name, v_cycle);
    hint := 'Remove one of these steps.';
    return;
  end if;
  v_plan := postrider_internal.operation_plan(p_operation);
  begin
    v_spec := postrider_internal.fill_arguments(
      case when v_plan.kind = 'request' then jsonb_strip_nulls(jsonb_build_object('service', p_operation.service))
             || p_operation.spec
           else postrider_internal.mark_templates(v_plan.columns, '{}') end,
      v_plan.places, postrider_internal.sample_arguments(p_operation.arguments), '{}', v_plan.kind <> 'request');
    v_nodes := postrider_internal.spec_check(v_spec, '$', false);
    if v_plan.kind = 'request' and not v_spec ? 'url' then
      reason := '$.url: is missing';
      hint := 'Like {"url": "users/{{arg.id}}"}.';
    elsif v_plan.kind <> 'request' or v_spec::text not like '%{{%' then
      perform postrider_internal.spec_values(v_nodes, false);
    else
      -- Templates of earlier steps may stand in a request that is used as a step.
      perform postrider_internal.spec_values(v_nodes, true);
    end if;
  exception when sqlstate 'PR001' or sqlstate 'PR006' or sqlstate 'PR009' then
    get stacked diagnostics reason = message_text, hint = pg_exception_hint;
  end;
end
$$;
comment on function postrider_internal.operation_sample_defect(postrider.operations) is
  'why the spec of an operation is refused when it is read with sample arguments, and a hint; nulls: valid';
