-- SPDX-License-Identifier: Apache-2.0
-- Keys are never templates, so only values change.
create or replace function postrider_internal.escape_templates(p_value jsonb) returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  v_found record;
begin
  if position('{{' in p_value::text) = 0 then
    return p_value;
  end if;
  for v_found in select p.path, p.value from postrider_internal.template_places(p_value) p loop
    p_value := case when v_found.path = '{}' then to_jsonb(replace(v_found.value, '{{', '{{{{'))
                    else jsonb_set(p_value, v_found.path, to_jsonb(replace(v_found.value, '{{', '{{{{'))) end;
  end loop;
  return p_value;
end
$$;
comment on function postrider_internal.escape_templates(jsonb) is
  'a value as it stands in a job of a batch or chain: {{ in its texts has become {{{{';
