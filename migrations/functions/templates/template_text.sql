-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.template_text(
  p_place text, p_template text, p_values jsonb, p_takes_containers boolean) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value jsonb := p_values -> p_template;
  v_type text := jsonb_typeof(v_value);
begin
  if v_type = 'null' then
    raise exception using errcode = 'PR009',
      message = format('%s: {{%s}} is null, which cannot be sent here; check the answer and correct the template',
                       p_place, p_template);
  elsif v_type in ('object', 'array') and not p_takes_containers then
    raise exception using errcode = 'PR009',
      message = format('%s: {{%s}} is %s, and only a text, a number, true or false fits here; '
      'name a member of it', p_place, p_template, case v_type when 'array' then 'a list' else 'an object' end);
  end if;
  return v_value #>> '{}';
end
$$;
comment on function postrider_internal.template_text(text, text, jsonb, boolean) is
  'the value of a template as text; raises PR009 for null, and for lists and objects where they do not fit';
