-- SPDX-License-Identifier: Apache-2.0
-- Checks everything about templates that needs only the row itself. Scheme, host and port must stand before the first
-- template. So no value can change them, and the lane of the job is known. An answer must not choose a file or the
-- receiver of a webhook.
create or replace function postrider_internal.job_template_defect(
  p_job postrider.jobs, out column_name text, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
  v_count bigint := 0;
begin
  if p_job.parent_id is not null and p_job.name in ('prev', 'item', 'results') then
    column_name := 'name';
    reason := format('%s is reserved in templates', p_job.name);
    hint := 'Choose another name; prev, item and results are reserved.';
    return;
  end if;
  if p_job.parent_id is not null then
    select d.c, 'holds a template, but this column cannot have templates', d.h
      into column_name, reason, hint from (values
      (p_job.download_to, 'download_to', 'Write the whole path without templates.'),
      (p_job.callback_url, 'callback_url',
       'Write the whole URL without templates.')) as d(value, c, h)
     where position('{{' in d.value) > 0 limit 1;
    if column_name is not null then
      return;
    end if;
  end if;
  for v_found in
    select t.column_name as name, t.path, t.value from postrider_internal.job_templates(p_job) t
     union all
    select 'each', '{list}'::text[] || l.path, l.value from postrider_internal.template_places(p_job.each -> 'list') l
  loop
    column_name := v_found.name;
    select d.reason, d.hint into reason, hint from postrider_internal.template_defect(v_found.value) d;
    v_count := v_count + (length(v_found.value) - length(replace(v_found.value, '{{', ''))) / 2;
    if reason is null and v_count > 1000 then
      reason := 'the job holds more than 1000 templates';
      hint := 'Use one template for a whole list or object, like "{{list.body.items}}".';
    elsif reason is null and v_found.name = 'body_parts' and v_found.path[2] = 'file' then
      reason := format('$[%s].file holds a template', v_found.path[1]);
      hint := 'Write the whole path without templates.';
    elsif reason is not null and v_found.path <> '{}' then
      reason := format('%s: %s', array_to_string(v_found.path, '.'), reason);
    end if;
    if reason is not null then
      return;
    end if;
  end loop;
  column_name := 'url';
  if p_job.parent_id is not null and p_job.url like '%{{%' then
    if postrider_internal.template_sample(p_job.url) ~ E'^([A-Za-z][A-Za-z0-9+.-]*:|[/\\\\]{2})'
       and split_part(p_job.url, '{{', 1) !~ E'^[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\\\]+[/?#]' then
      reason := 'takes its scheme, host or port from a template';
      hint := 'Write them out, like https://api.example.com/users/{{register.body.id}}, or name a service and give a path.';
      return;
    elsif p_job.service is null and not postrider_internal.url_is_absolute(p_job.url) then
      reason := 'begins with a template or a path, and the job has no service';
      hint := 'Name a service with a base_url, or write scheme and host before the first template.';
      return;
    end if;
  end if;
  column_name := 'run_if';
  if p_job.run_if is not null and postrider_internal.jsonpath_text_defect(p_job.run_if) = 'is not a jsonpath' then
    reason := 'is not a jsonpath';
    hint := 'Write a predicate over earlier steps, like $.register.status == 201.';
    return;
  elsif p_job.run_if is not null and postrider_internal.run_if_names(p_job.run_if::jsonpath) is null then
    reason := 'has a $ without the name of a step';
    hint := 'Write the name of an earlier step after each $, like $.register.status == 201.';
    return;
  elsif p_job.run_if is not null and not postrider_internal.is_predicate(p_job.run_if::jsonpath) then
    reason := 'is not a condition but a value';
    hint := 'Compare it, like $.register.body.id == 7, or write exists($.register.body.id).';
    return;
  end if;
  column_name := null;
end
$$;
comment on function postrider_internal.job_template_defect(postrider.jobs) is
  'why templates, run_if or the list of an each are refused, and a hint; nulls: valid';
