-- SPDX-License-Identifier: Apache-2.0
-- after: operations/argument_values.sql
-- Never quotes a value. p_templates: arguments that are templates, which are checked when they are filled.
create or replace function postrider_internal.argument_defect(
  p_types jsonb, p_arguments jsonb, p_templates text[], out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_type jsonb;
  v_value jsonb;
  v_near text;
  v_all text := (select string_agg(k, ', ' order by k) from jsonb_object_keys(p_types) k);
begin
  hint := case when v_all is null then 'The operation has no arguments.'
               else format('The arguments are %s; a ? means that it may be missing.', v_all) end;
  if jsonb_typeof(p_arguments) <> 'object' then
    reason := 'must be an object';
    return;
  end if;
  for v_name in select k from jsonb_object_keys(p_arguments) k order by k loop
    if not p_types ?| array[v_name, v_name || '?'] then
      reason := format('%s is not an argument of the operation', to_json(left(v_name, 80)));
      select n.name into v_near
        from (select rtrim(k, '?') as name from jsonb_object_keys(p_types) k) n
       where postrider_internal.edit_distance(n.name, v_name) <= least(2, (length(n.name) + 1) / 3)
       order by postrider_internal.edit_distance(n.name, v_name), n.name limit 1;
      hint := coalesce('Perhaps you mean ' || v_near || '. ', '') || hint;
      return;
    end if;
  end loop;
  for v_name, v_type in select k.key, k.value from jsonb_each(p_types) k order by k.key loop
    v_value := nullif(p_arguments -> rtrim(v_name, '?'), 'null');
    continue when rtrim(v_name, '?') = any (p_templates) or v_value is null and v_name like '%?';
    if v_value is null then
      reason := format('%s is missing', v_name);
    else
      reason := postrider_internal.argument_misfit(v_type, v_value, rtrim(v_name, '?'));
    end if;
    if reason is not null then
      return;
    end if;
  end loop;
  hint := null;
end
$$;
comment on function postrider_internal.argument_defect(jsonb, jsonb, text[]) is
  'why the arguments of an operation are refused, and a hint; nulls: valid';
