-- SPDX-License-Identifier: Apache-2.0
-- Checks what needs no tree. submit checks for a whole spec whether a name is visible. Only fill_templates can check
-- whether there is a value.
create or replace function postrider_internal.template_defect(p_value text, out reason text, out hint text)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[];
  v_path text[];
begin
  if p_value is null or position('{{' in p_value) = 0 then
    return;
  end if;
  -- Counts them before they are extracted.
  if (length(p_value) - length(replace(p_value, '{{', ''))) / 2 > 1000 then
    reason := 'holds more than 1000 templates';
    hint := 'Use one template for a whole list or object, like "{{list.body.items}}".';
    return;
  end if;
  v_parts := postrider_internal.template_parts(p_value);
  for i in 1 .. cardinality(v_parts) loop
    if i % 2 = 1 then
      -- An escaped {{{{ has become {{ here, so open templates are searched in the original text.
      continue;
    end if;
    v_path := postrider_internal.template_path(v_parts[i]);
    if v_parts[i] = '' then
      reason := 'holds an empty template';
      hint := 'Name a step and the part of it, like {{register.body.id}}; a literal {{ is written {{{{.';
    elsif v_path is null then
      reason := format('holds a template that cannot be read: {{%s}}', left(v_parts[i], 100));
      hint := 'Write the name of a step and a path: {{list.body.items[0].id}}. Quote unusual names: {{"my step".body}}. '
        'A literal {{ is written {{{{.';
    elsif length(v_parts[i]) > 2000 then
      reason := 'holds a template of more than 2000 characters';
      hint := 'Shorten the name of the step, or give the step an extract.';
    end if;
    if reason is not null then
      return;
    end if;
  end loop;
  if position('{{' in regexp_replace(p_value, E'\\{\\{\\{\\{|\\{\\{[^{}]*\\}\\}', '', 'g')) > 0 then
    reason := 'holds a {{ without }}';
    hint := 'Close it, like {{register.body.id}}; a literal {{ is written {{{{.';
  end if;
end
$$;
comment on function postrider_internal.template_defect(text) is
  'why the templates in a text cannot be read, and a hint; nulls: valid';
