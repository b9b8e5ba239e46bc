-- SPDX-License-Identifier: Apache-2.0
-- p_depth limits the recursion here and in validator_mismatch, which follows the template, not the answer.
create or replace function postrider_internal.validator_defect(
  p_template jsonb, p_path text default '$', p_depth int default 1, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_types constant text := 'string, number, boolean, object, array or any';
  v_key text;
  v_member jsonb;
begin
  if p_template is null then
    return;
  elsif p_depth = 1 and octet_length(p_template::text) > 65536 then
    reason := 'is larger than 64 kB';
    hint := 'Describe only the keys that your code needs: other keys are allowed.';
  elsif p_depth > 32 then
    reason := format('%s is more than 32 levels deep', left(p_path, 200));
    hint := 'Write "any", "object" or "array" for the deepest levels.';
  elsif jsonb_typeof(p_template) = 'object' then
    for v_key, v_member in select * from jsonb_each(p_template) loop
      select d.reason, d.hint into reason, hint
        from postrider_internal.validator_defect(v_member, p_path || postrider_internal.json_path_key(v_key),
                                                 p_depth + 1) d;
      exit when reason is not null;
    end loop;
  elsif jsonb_typeof(p_template) = 'array' then
    if jsonb_array_length(p_template) = 0 then
      reason := format('%s is an empty array', p_path);
      hint := 'Give the type of the elements, like ["string"]; "array" allows any elements.';
      return;
    end if;
    for v_key, v_member in
      select (e.place - 1)::text, e.value from jsonb_array_elements(p_template) with ordinality as e(value, place)
    loop
      select d.reason, d.hint into reason, hint
        from postrider_internal.validator_defect(v_member, format('%s[%s]', p_path, v_key), p_depth + 1) d;
      exit when reason is not null;
    end loop;
  elsif jsonb_typeof(p_template) <> 'string' then
    reason := format('%s is a %s and not a type', p_path, jsonb_typeof(p_template));
    hint := format('Name a type in quotes: %s.', v_types);
  elsif p_template #>> '{}' not in ('string', 'number', 'boolean', 'object', 'array', 'any') then
    reason := format('%s names the unknown type %s', p_path, to_json(left(p_template #>> '{}', 40)));
    hint := format('The types are %s.', v_types);
  end if;
end
$$;
comment on function postrider_internal.validator_defect(jsonb, text, int) is
  'why a validator is refused, with the path, and a hint; nulls: valid';
