-- SPDX-License-Identifier: Apache-2.0
-- The job of a request gets its columns when it is inserted (apply_operation), so only argument_types is added here.
-- The types are filled in then.
--
-- p_is_member: the job has earlier steps, so an argument that is one whole {{…}} is a template. In the spec of an
-- operation, "{{arg.x}}" as an argument of a step is a template only if x is one. Otherwise data could become a
-- template. So a step that comes from an operation brings its argument_types along.
create or replace function postrider_internal.expand_operation(p_spec jsonb, p_place text,
                                                               p_is_member boolean) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan postrider_internal.operation_plans;
  v_arguments jsonb := coalesce(nullif(p_spec -> 'arguments', 'null'), '{}');
  v_templates text[];
  v_refusal record;
  v_spec jsonb;
  v_message text;
  v_hint text;
begin
  if jsonb_typeof(p_spec -> 'operation') <> 'string' then
    return p_spec;
  end if;
  select * into v_plan from postrider_internal.operation_plans p where p.operation = p_spec ->> 'operation';
  if not found then
    select d.reason, d.hint into v_refusal from postrider_internal.unknown_operation(p_spec ->> 'operation') d;
    raise exception using errcode = 'PR006', message = format('%s.operation: %s', p_place, v_refusal.reason),
      hint = v_refusal.hint;
  end if;
  v_templates := array(
    select k.key from jsonb_each_text(case jsonb_typeof(v_arguments) when 'object' then v_arguments else '{}' end) k
     where p_is_member and postrider_internal.is_whole_template(k.value)
       and (not p_spec ? 'argument_types' or p_spec -> 'argument_types' ? k.key));
  if v_plan.kind = 'request' then
    return p_spec - 'argument_types' || case when v_templates = '{}' then '{}'
      else jsonb_build_object('argument_types', (select jsonb_object_agg(t, true) from unnest(v_templates) t)) end;
  end if;
  if p_spec ?| '{chain,batch}' then
    raise exception using errcode = 'PR006',
      message = format('%s.operation: the object also has a chain or batch', p_place),
      hint = 'Give one of them; the operation describes the whole ' || v_plan.kind || '.';
  end if;
  select d.reason, d.hint into v_refusal
    from postrider_internal.argument_defect(v_plan.types, v_arguments, v_templates) d;
  if v_refusal.reason is not null then
    raise exception using errcode = 'PR006', message = format('%s.arguments: %s', p_place, v_refusal.reason),
      hint = v_refusal.hint;
  end if;
  for v_message in select k from jsonb_object_keys(p_spec) k where k = any (v_plan.closed) loop
    raise exception using errcode = 'PR006', message = format('%s.%s: is given by the operation', p_place, v_message),
      hint = 'Leave it out; an admin can add it to overridable in postrider.operations.';
  end loop;
  begin
    v_spec := postrider_internal.fill_arguments(
      postrider_internal.mark_templates(v_plan.columns, v_templates), v_plan.places, v_arguments, v_templates, true);
  exception when sqlstate 'PR001' then
    get stacked diagnostics v_message = message_text, v_hint = pg_exception_hint;
    raise exception using errcode = 'PR006', message = regexp_replace(v_message, '^jobs', p_place), hint = v_hint;
  end;
  return jsonb_build_object('tag', v_plan.operation) || v_spec || (p_spec - 'argument_types');
end
$$;
comment on function postrider_internal.expand_operation(jsonb, text, boolean) is
  'a job of a spec that names an operation: a chain or batch with its members, a request with argument_types';
