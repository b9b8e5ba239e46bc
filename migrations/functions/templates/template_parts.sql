-- SPDX-License-Identifier: Apache-2.0
-- Two passes of one regular expression, both linear in the text. An expression and the escape can never begin inside
-- each other, and no expression holds a brace. So {"a":{{{step.body}}}} is read as expected.
create or replace function postrider_internal.template_parts(p_value text) returns text[]
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_literals text[] := regexp_split_to_array(p_value, E'\\{\\{\\{\\{|\\{\\{[^{}]*\\}\\}');
  v_found text[] := array(select m.part[1]
                          from regexp_matches(p_value, E'(\\{\\{\\{\\{|\\{\\{[^{}]*\\}\\})', 'g') as m(part));
  v_parts text[] := v_literals[1:1];
begin
  for i in 1 .. cardinality(v_found) loop
    if v_found[i] = '{{{{' then
      v_parts[cardinality(v_parts)] := v_parts[cardinality(v_parts)] || '{{' || v_literals[i + 1];
    else
      v_parts := v_parts || btrim(substr(v_found[i], 3, length(v_found[i]) - 4), E' \t\r\n') || v_literals[i + 1];
    end if;
  end loop;
  return v_parts;
end
$$;
comment on function postrider_internal.template_parts(text) is
  'a text split at its templates: literal, expression, literal, ...; {{{{ has become {{';
