-- SPDX-License-Identifier: Apache-2.0
-- Follows the template, so its depth is at most the 32 levels of the template, however deep the answer is. Each member
-- of an object costs 2 µs. A jsonpath checks an array as a whole; only an array that does not fit is read element by
-- element. It runs no query while all fits, and has no SET clauses; the settings of its caller apply.
create or replace function postrider_internal.validator_mismatch(p_template jsonb, p_value jsonb,
                                                                 p_path text default '$')
returns text
language plpgsql immutable parallel safe
as $$
declare
  v_type text := jsonb_typeof(p_value);
  v_kind text := jsonb_typeof(p_template);
  v_wanted text := v_kind;
  v_members jsonb;
  v_key text;
  v_template jsonb;
  v_value jsonb;
  v_found text;
  v_condition text;
  v_path jsonpath;
begin
  if v_kind = 'string' then
    v_wanted := p_template #>> '{}';
  end if;
  if v_type is null or v_type = 'null' or v_wanted = 'any' then
    return null;
  elsif v_type <> v_wanted then
    return format('%s should be %s %s and is %s %s', p_path,
      case when v_wanted ~ '^[ao]' then 'an' else 'a' end, v_wanted,
      case when v_type ~ '^[ao]' then 'an' else 'a' end, v_type);
  end if;

  if v_kind = 'object' then
    v_members := jsonb_path_query_array(p_template, '$.keyvalue()');
    for i in 0 .. jsonb_array_length(v_members) - 1 loop
      v_key := v_members -> i ->> 'key';
      v_template := v_members -> i -> 'value';
      v_value := p_value -> v_key;
      if v_value is null then
        return p_path || postrider_internal.json_path_key(v_key) || ' is missing';
      elsif jsonb_typeof(v_template) <> 'string'
         or v_template #>> '{}' not in (jsonb_typeof(v_value), 'any') and jsonb_typeof(v_value) <> 'null' then
        v_found := postrider_internal.validator_mismatch(v_template, v_value,
                                                         p_path || postrider_internal.json_path_key(v_key));
        if v_found is not null then
          return v_found;
        end if;
      end if;
    end loop;

  elsif v_kind = 'array' then
    v_template := p_template -> 0;
    if jsonb_typeof(v_template) = 'string' then
      if v_template = '"any"' or not jsonb_path_exists(
           p_value, 'strict $[*] ? (@.type() != $t && @.type() != "null")', jsonb_build_object('t', v_template)) then
        return null;
      end if;
    end if;
    v_condition := postrider_internal.validator_path(v_template);
    if not jsonb_path_exists(p_value, format('strict $[*] ? (!exists(@ ? %s))', v_condition)::jsonpath) then
      return null;
    end if;
    v_path := format('strict $ ? %s', v_condition)::jsonpath;
    select e.place - 1, e.value into v_key, v_value
      from jsonb_array_elements(p_value) with ordinality as e(value, place)
     where not jsonb_path_exists(e.value, v_path)
     limit 1;
    return postrider_internal.validator_mismatch(v_template, v_value, format('%s[%s]', p_path, v_key));
  end if;
  return null;
end
$$;
comment on function postrider_internal.validator_mismatch(jsonb, jsonb, text) is
  'where and how JSON differs from a validator, as paths and types without values; null: it fits';
