-- SPDX-License-Identifier: Apache-2.0
-- p_kind: j JSON, f form, q query, t only text (headers, parts). A text that is one whole template keeps the type of
-- its value in j, f and q. null is allowed only in j, because other kinds would send it as nothing.
--
-- Where a value becomes text, a list or object becomes its JSON in j, f and body_parts. Elsewhere it does not fit.
create or replace function postrider_internal.fill_json(p_column text, p_json jsonb, p_values jsonb,
                                                        p_kind "char") returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
  v_parts text[];
  v_place text;
  v_value jsonb;
  v_misfit jsonb;
  v_length bigint := 0;
begin
  for v_found in select p.path, p.value from postrider_internal.template_places(p_json) p loop
    v_place := concat_ws('.', p_column, nullif(array_to_string(v_found.path, '.'), ''));
    v_parts := postrider_internal.template_parts(v_found.value);
    if p_kind <> 't' and cardinality(v_parts) = 3 and v_parts[1] = '' and v_parts[3] = '' then
      v_value := p_values -> v_parts[2];
      if p_kind = 'q' and jsonb_typeof(v_value) = 'array' and cardinality(v_found.path) = 1 then
        v_misfit := jsonb_path_query_first(
          v_value, 'strict $[*] ? (@.type() == "object" || @.type() == "array" || @ == null)');
        if v_misfit is not null then
          raise exception using errcode = 'PR009',
            message = format('%s: {{%s}} is a list with %s in it, and only texts, numbers, true and '
            'false fit into a list here; take a part of it', v_place, v_parts[2],
            case jsonb_typeof(v_misfit) when 'null' then 'null' when 'array' then 'a list' else 'an object' end);
        end if;
      elsif p_kind = 'q' then
        -- Raises PR009 if the value is no single text, number or boolean.
        perform postrider_internal.template_text(v_place, v_parts[2], p_values, false);
      elsif p_kind = 'f' and jsonb_path_exists(v_value, 'strict $.** ? (@ == null)') then
        raise exception using errcode = 'PR009',
          message = format('%s: {{%s}} is or holds null, which cannot be sent in a form; take a part of it', v_place,
                           v_parts[2]);
      end if;
    else
      v_value := to_jsonb(postrider_internal.fill_text(v_place, v_found.value, p_values, p_kind = 'j' or p_kind = 'f'
                                                       or p_column = 'body_parts'));
    end if;
    v_length := v_length + pg_column_size(v_value);
    if v_length > 1048576 then
      raise exception using errcode = 'PR009',
        message = v_place || ': with its templates filled the column is larger than 1 MB; take a part of the values';
    end if;
    p_json := case when v_found.path = '{}' then v_value else jsonb_set(p_json, v_found.path, v_value) end;
  end loop;
  return p_json;
end
$$;
comment on function postrider_internal.fill_json(text, jsonb, jsonb, "char") is
  'a column with the templates in its texts filled; raises PR009 if a value does not fit';
