-- SPDX-License-Identifier: Apache-2.0
-- Does not check the spec again: it was checked when it was set, and the INSERT checks the values.
create or replace function postrider_internal.submit_tick(p_schedule postrider.schedules,
                                                          p_run_at timestamptz) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb := p_schedule.spec || jsonb_build_object('run_at', p_run_at);
  v_text record;
begin
  if coalesce(v_spec -> 'tag', 'null') = 'null' then
    v_spec := v_spec || jsonb_build_object('tag', p_schedule.name);
  end if;
  -- In a job without a parent INSERT leaves {{ unchanged, so {{{{ is replaced here.
  if p_schedule.spec::text like '%{{{{%' and not v_spec ?| '{chain,batch}' then
    for v_text in
      select array[k.key] || t.path as path, t.value
        from jsonb_each(v_spec) k
       cross join lateral postrider_internal.template_places(k.value) t
       where k.key in ('url', 'query', 'headers', 'body', 'body_json', 'body_form', 'body_parts')
    loop
      v_spec := jsonb_set(v_spec, v_text.path, to_jsonb(replace(v_text.value, '{{{{', '{{')));
    end loop;
  end if;
  return (postrider_internal.insert_spec_jobs(postrider_internal.spec_nodes(v_spec, '$'), null, null, 1,
                                              p_schedule.created_by))[1];
end
$$;
comment on function postrider_internal.submit_tick(postrider.schedules, timestamptz) is
  'inserts the job of a schedule, by default with its name as tag, and returns the id; null: dedupe_key skipped it';
