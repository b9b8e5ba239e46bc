-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.job_templates(
  p_job postrider.jobs, out column_name text, out path text[], out value text) returns setof record
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select 'url', '{}'::text[], p_job.url where position('{{' in p_job.url) > 0
   union all
  select c.name, p.path, p.value
    from (values ('query', p_job.query), ('headers', p_job.headers), ('body_json', p_job.body_json),
                 ('body_form', p_job.body_form), ('body_parts', p_job.body_parts)) as c(name, value)
   cross join lateral postrider_internal.template_places(c.value) p;
end
$$;
comment on function postrider_internal.job_templates(postrider.jobs) is
  'the texts of a job that hold {{: column, path inside it, text';
