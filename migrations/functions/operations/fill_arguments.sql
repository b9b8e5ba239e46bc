-- SPDX-License-Identifier: Apache-2.0
-- The values have their types, see argument_check. Values are data: in a job of a batch or chain, {{ in them is escaped
-- (p_escapes). Arguments in p_templates are templates of such a job. They are copied as they are, and filled and
-- encoded for their place later. Columns without templates, like dedupe_key, need a value at once.
--
-- An argument that is missing removes what it would have filled: the header, query argument, form field, part or key.
create or replace function postrider_internal.fill_arguments(
  p_columns jsonb, p_places postrider_internal.argument_place[], p_arguments jsonb, p_templates text[],
  p_escapes boolean) returns jsonb
language plpgsql stable
as $$
declare
  v_place postrider_internal.argument_place;
  v_value jsonb;
  v_text text;
  v_is_template boolean;
begin
  foreach v_place in array p_places loop
    if v_place.kind = 'u' and cardinality(v_place.parts) = 3 and not p_escapes then
      -- The most frequent URL: one argument that needs no encoding. This saves a call of fill_argument_text.
      v_text := p_arguments ->> substr(v_place.parts[2], 5);
      if postrider_internal.is_plain_segment(v_text) and v_place.whole is null
         and length(v_place.parts[1]) < 4000 and length(v_place.parts[3]) < 3000 then
        p_columns := jsonb_set(p_columns, v_place.path, to_jsonb(v_place.parts[1] || v_text || v_place.parts[3]));
        continue;
      end if;
    end if;
    if v_place.whole is null or v_place.kind = 'u' then
      p_columns := jsonb_set(p_columns, v_place.path, to_jsonb(postrider_internal.fill_argument_text(
                     v_place, p_columns, p_arguments, p_templates, p_escapes)));
      continue;
    end if;
    v_value := p_arguments -> v_place.whole;
    if coalesce(v_value, 'null') = 'null' then
      p_columns := p_columns #- case when v_place.kind = 'p' and v_place.path[cardinality(v_place.path)]
                                            in ('content', 'base64')
                                     then v_place.path[: cardinality(v_place.path) - 1] else v_place.path end;
      continue;
    end if;
    v_is_template := v_place.whole = any (p_templates);
    if v_is_template and v_place.kind in ('x', 'd') then
      perform postrider_internal.raise_argument_error(v_place, v_place.whole,
                                                      'is a template, but its value is needed now');
    end if;
    if not v_is_template and v_place.kind not in ('j', 'a', 'd') then
      if v_place.kind = 'q' and jsonb_typeof(v_value) in ('object', 'array')
         and (jsonb_typeof(v_value) = 'object'
              or jsonb_path_exists(v_value, 'strict $[*] ? (@.type() == "object" || @.type() == "array" || @ == null)'))
      then
        perform postrider_internal.raise_argument_error(v_place, v_place.whole,
                                                        'is not a text, number or boolean, and no list of these');
      elsif v_place.kind = 'f' and jsonb_path_exists(v_value, 'strict $.** ? (@ == null)') then
        perform postrider_internal.raise_argument_error(v_place, v_place.whole,
                                                        'holds null, which a form cannot send');
      elsif v_place.kind in ('h', 'p', 'x') and jsonb_typeof(v_value) <> 'string' then
        if v_place.kind <> 'p' and jsonb_typeof(v_value) in ('object', 'array') then
          perform postrider_internal.raise_argument_error(v_place, v_place.whole, 'is not a text, number or boolean');
        end if;
        v_value := to_jsonb(v_value #>> '{}');
      end if;
      if v_place.kind = 'h' then
        perform postrider_internal.check_header_argument(v_place, v_place.whole, v_value #>> '{}');
      end if;
    end if;
    if p_escapes and not v_is_template and v_place.kind not in ('a', 'x', 'd') then
      v_value := postrider_internal.escape_templates(v_value);
    end if;
    p_columns := jsonb_set(p_columns, v_place.path, v_value);
  end loop;
  return p_columns;
end
$$;
comment on function postrider_internal.fill_arguments(
  jsonb, postrider_internal.argument_place[], jsonb, text[], boolean) is
  'the columns of an operation with its arguments filled; raises PR001 if a value does not fit its place';
