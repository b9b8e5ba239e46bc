-- SPDX-License-Identifier: Apache-2.0
-- Walks only steps that name an operation themselves. Called before the arguments are filled, while no text of
-- the spec comes from a caller yet.
create or replace function postrider_internal.mark_templates(p_spec jsonb, p_templates text[]) returns jsonb
language plpgsql immutable
as $$
declare
  v_key text;
  v_members jsonb;
begin
  if jsonb_typeof(p_spec) <> 'object' then
    return p_spec;
  end if;
  foreach v_key in array '{chain,batch}'::text[] loop
    if jsonb_typeof(p_spec -> v_key) = 'array' then
      select coalesce(jsonb_agg(postrider_internal.mark_templates(e.value, p_templates) order by e.place), '[]')
        into v_members
        from jsonb_array_elements(p_spec -> v_key) with ordinality e (value, place);
      p_spec := p_spec || jsonb_build_object(v_key, v_members);
    elsif jsonb_typeof(p_spec -> v_key) = 'object' then
      p_spec := jsonb_set(p_spec, array[v_key, 'do'],
                          postrider_internal.mark_templates(p_spec -> v_key -> 'do', p_templates));
    end if;
  end loop;
  if p_spec ? 'operation' then
    p_spec := p_spec || jsonb_build_object('argument_types', (
      select coalesce(jsonb_object_agg(k.key, true), '{}')
        from jsonb_each_text(case jsonb_typeof(p_spec -> 'arguments') when 'object' then p_spec -> 'arguments'
                                  else '{}' end) k
       where case when k.value ~ E'^\\{\\{\\s*arg\\.[^{}]*\\}\\}$'
                  then btrim(substring(k.value from E'arg\\.([^{}]*)\\}\\}$')) = any (p_templates)
                  else postrider_internal.is_whole_template(k.value) end));
  end if;
  return p_spec;
end
$$;
comment on function postrider_internal.mark_templates(jsonb, text[]) is
  'the spec of an operation in which steps say which of their arguments are templates';
