-- SPDX-License-Identifier: Apache-2.0
-- Arguments that fill most requests need no template when a job is inserted:
--
-- - A URL with one argument is a text before it and a text after it.
-- - If each argument of a query or body stands under its own name, the arguments themselves are added to it. They must
--   be required, since a null would remove its key, and must need no check apart from their type.
--
-- fill_arguments fills the other columns. A dedupe_key and files are left to apply_operation.
create or replace function postrider_internal.plan_job(p_plan postrider_internal.operation_plans)
returns postrider_internal.planned_job
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job postrider_internal.planned_job;
  v_columns jsonb := p_plan.columns;
  v_places postrider_internal.argument_place[] := p_plan.places;
  v_parts text[];
  v_column text;
  v_names text[];
begin
  if p_plan.kind <> 'request'
     or exists (select from jsonb_object_keys(v_columns) k
                 where not to_jsonb(jsonb_populate_record(v_job, '{}')) ? k) then
    return null;
  end if;
  select p.parts into v_parts from unnest(v_places) p
   where p.kind = 'u' and p.whole is null and cardinality(p.parts) = 3 and length(p.parts[1]) < 4000
     and length(p.parts[3]) < 3000;
  if found then
    v_places := array(select p from unnest(v_places) p where p.kind <> 'u');
    v_columns := v_columns - 'url';
  end if;
  foreach v_column in array '{query,body_json,body_form}'::text[] loop
    select array_agg(p.whole) into v_names from unnest(v_places) p where p.path[1] = v_column
    having bool_and(cardinality(p.path) = 2 and coalesce(p.path[2] = p.whole, false) and p_plan.types ? p.whole
                    and (v_column = 'body_json' or p_plan.types ->> p.whole in ('string', 'number', 'boolean')));
    continue when v_names is null;
    v_places := array(select p from unnest(v_places) p where p.path[1] <> v_column);
    v_columns := jsonb_set(v_columns, array[v_column], (v_columns -> v_column) - v_names)
      || jsonb_build_object(v_column || '_leaves',
                            array(select n from unnest(p_plan.argument_names) n where n <> all (v_names)));
  end loop;
  v_names := array(select p.path[1] from unnest(v_places) p);
  v_job := jsonb_populate_record(v_job, v_columns - v_names);
  v_job.argument_names := p_plan.argument_names;
  v_job.argument_check := p_plan.argument_check;
  v_job.url_start := v_parts[1];
  v_job.url_argument := substr(v_parts[2], 5);
  v_job.url_end := v_parts[3];
  if v_names <> '{}' then
    -- A URL that is one whole argument is checked with the service.
    v_job.fill_columns := (select jsonb_object_agg(c.key, c.value) from jsonb_each(v_columns) c
                            where c.key = any (v_names || '{service,use_cdn}'));
    v_job.fill_places := v_places;
  end if;
  return v_job;
exception when data_exception then
  return null;
end
$$;
comment on function postrider_internal.plan_job(postrider_internal.operation_plans) is
  'what the plan of a valid operation gives to a job; null: only apply_operation can fill it';
