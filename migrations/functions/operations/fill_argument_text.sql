-- SPDX-License-Identifier: Apache-2.0
-- In a URL a value is fully percent-encoded, slashes too, so it stays inside its path segment or query argument. It
-- cannot make a segment . or .. and cannot be empty in the path. A URL that is one whole argument must lead to the
-- service of the operation, as fill_url checks it.
create or replace function postrider_internal.fill_argument_text(
  p_place postrider_internal.argument_place, p_columns jsonb, p_arguments jsonb, p_templates text[],
  p_escapes boolean) returns text
language plpgsql stable
as $$
declare
  v_parts text[] := p_place.parts;
  v_name text;
  v_value jsonb;
  v_is_url boolean := p_place.kind = 'u';
  v_is_path boolean := true;
  v_text text;
begin
  if v_is_url and p_place.whole is not null and p_place.whole <> all (p_templates) then
    return postrider_internal.fill_whole_url(p_place, p_columns, p_arguments -> p_place.whole);
  end if;
  for i in 1 .. cardinality(v_parts) loop
    if i % 2 = 1 then
      v_is_path := v_is_path and v_parts[i] !~ '[?#]';
      if p_escapes then
        v_parts[i] := replace(v_parts[i], '{{', '{{{{');
      end if;
      continue;
    elsif v_parts[i] not like 'arg.%' then
      v_parts[i] := '{{' || v_parts[i] || '}}';
      continue;
    end if;
    v_name := substr(v_parts[i], 5);
    v_value := p_arguments -> v_name;
    v_text := v_value #>> '{}';
    if v_text is null then
      perform postrider_internal.raise_argument_error(p_place, v_name, 'is missing');
    elsif v_name = any (p_templates) and p_place.kind in ('x', 'd') then
      perform postrider_internal.raise_argument_error(p_place, v_name, 'is a template, but its value is needed now');
    elsif v_name = any (p_templates) then
      null;
    elsif jsonb_typeof(v_value) in ('object', 'array') and p_place.kind not in ('j', 'f', 'p') then
      perform postrider_internal.raise_argument_error(p_place, v_name, 'is not a text, number or boolean');
    elsif v_is_url then
      if v_is_path and v_text = '' then
        perform postrider_internal.raise_argument_error(p_place, v_name, 'is empty');
      elsif v_text ~ '[^A-Za-z0-9_~-]' then
        v_text := postrider_internal.percent_encoded(v_text);
      end if;
    elsif p_place.kind = 'h' then
      perform postrider_internal.check_header_argument(p_place, v_name, v_text);
    end if;
    if p_escapes and not v_is_url and v_name <> all (p_templates) and p_place.kind not in ('x', 'd') then
      -- Two braces must not meet at the border of a value.
      if v_text like '{%' and v_parts[i - 1] like '%{' or v_text like '%{' and v_parts[i + 1] like '{%' then
        perform postrider_internal.raise_argument_error(p_place, v_name, 'has a { next to another {');
      end if;
      v_text := replace(v_text, '{{', '{{{{');
    end if;
    v_parts[i] := v_text;
  end loop;
  v_text := array_to_string(v_parts, '');
  if v_is_url and (length(v_text) > 8000
                   or v_text like '%.%' and postrider_internal.has_new_dots(v_text, p_place.parts)) then
    perform postrider_internal.raise_argument_error(
      p_place, v_name, case when length(v_text) > 8000 then 'is too long, URLs have at most 8000 characters'
                            else 'makes a path segment . or .., which changes the path' end);
  end if;
  return v_text;
end
$$;
comment on function postrider_internal.fill_argument_text(
  postrider_internal.argument_place, jsonb, jsonb, text[], boolean) is
  'a text of an operation with its arguments filled; raises PR001 if a value does not fit';
