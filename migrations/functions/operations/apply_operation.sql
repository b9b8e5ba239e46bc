-- SPDX-License-Identifier: Apache-2.0
-- Called for each inserted row with an operation. A value that equals the default of its column counts as not given.
--
-- After it, the columns of the request are valid. They come from the operation, which was checked, or they are
-- arguments of the right type in checked places. If the row gives other columns, all rules are checked here. So
-- queue_new_jobs checks only when and where the job runs.
--
-- Setting a field takes the row of 70 columns apart, and passing it on puts it together again. So the plan brings
-- revision, rules and tag as columns, too.
create or replace function postrider_internal.apply_operation(p_job postrider.jobs) returns postrider.jobs
language plpgsql stable
as $$
declare
  v_plan postrider_internal.operation_plans;
  v_columns jsonb;
  v_given text[];
  v_templates text[] := '{}';
  v_has_headers boolean := p_job.headers is not null;
  v_refusal record;
begin
  select * into v_plan from postrider_internal.operation_plans p where p.operation = p_job.operation;
  if not found then
    perform postrider_internal.raise_column_error('jobs', 'operation', d.reason, d.hint)
       from postrider_internal.unknown_operation(p_job.operation) d;
  elsif v_plan.kind <> p_job.kind then
    perform postrider_internal.raise_column_error('jobs', 'operation',
      format('%s describes a %s, and this is a %s', quote_literal(p_job.operation), v_plan.kind, p_job.kind),
      'Use postrider.call or postrider.submit.');
  end if;
  if p_job.arguments is null then
    p_job.arguments := '{}';
  end if;
  if p_job.kind <> 'request' then
    p_job.operation_revision := v_plan.revision;
    p_job.operation_rules := null;
    p_job.tag := coalesce(p_job.tag, p_job.operation);
    return p_job;
  end if;
  if p_job.argument_types is not null then
    select coalesce(array_agg(k), '{}') into v_templates
      from jsonb_object_keys(case when p_job.parent_id is not null then p_job.argument_types else '{}' end) k
     where postrider_internal.is_whole_template(p_job.arguments ->> k);
    p_job.argument_types := (
      select jsonb_object_agg(k.key, k.value)
        from jsonb_each(v_plan.types) k
       where rtrim(k.key, '?') = any (v_templates));
  end if;
  if v_templates <> '{}' or p_job.arguments - v_plan.argument_names <> '{}'
     or jsonb_path_match(p_job.arguments, v_plan.argument_check, '{}', true) is not true then
    select d.reason, d.hint into v_refusal
      from postrider_internal.argument_defect(v_plan.types, p_job.arguments, v_templates) d;
    if v_refusal.reason is not null then
      perform postrider_internal.raise_column_error('jobs', 'arguments', v_refusal.reason, v_refusal.hint);
    end if;
  end if;
  v_given := postrider_internal.given_columns(p_job);
  if v_given <> '{}' and v_given && v_plan.closed then
    perform postrider_internal.raise_column_error('jobs', c, 'is given by the operation',
      'Leave it out; an admin can add it to overridable in postrider.operations.')
       from unnest(v_given) c where c = any (v_plan.closed) limit 1;
  end if;
  v_columns := case when cardinality(v_plan.places) = 0 then v_plan.columns
                    else postrider_internal.fill_arguments(v_plan.columns, v_plan.places, p_job.arguments, v_templates,
                                                           p_job.parent_id is not null) end;
  if v_has_headers then
    p_job.headers := postrider_internal.merge_headers(v_columns -> 'headers', p_job.headers);
    v_columns := v_columns - 'headers';
  end if;
  p_job := jsonb_populate_record(p_job, case when v_given = '{}' then v_columns else v_columns - v_given end);
  if v_has_headers or p_job.body_parts is not null
     or not v_given <@ '{queue,lane,priority,timeout,max_attempts,delivery,dedupe_key,on_duplicate,on_success,'
       'on_failure,callback_url,notify,tag,metadata}' then
    perform postrider_internal.refuse_bad_job(p_job);
  end if;
  return p_job;
end
$$;
comment on function postrider_internal.apply_operation(postrider.jobs) is
  'a new job with the columns of its operation; raises PR001 for a column or argument that does not fit';
