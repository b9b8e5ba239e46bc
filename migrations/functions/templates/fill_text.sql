-- SPDX-License-Identifier: Apache-2.0
-- Inserted values are not searched for templates again.
create or replace function postrider_internal.fill_text(p_place text, p_text text, p_values jsonb,
                                                        p_takes_containers boolean) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := postrider_internal.template_parts(p_text);
  v_length bigint := 0;
begin
  for i in 1 .. cardinality(v_parts) loop
    if i % 2 = 0 then
      v_parts[i] := postrider_internal.template_text(p_place, v_parts[i], p_values, p_takes_containers);
    end if;
    v_length := v_length + octet_length(v_parts[i]);
    if v_length > 1048576 then
      raise exception using errcode = 'PR009',
        message = p_place || ': with its templates filled it is larger than 1 MB; take a part of the values';
    end if;
  end loop;
  return array_to_string(v_parts, '');
end
$$;
comment on function postrider_internal.fill_text(text, text, jsonb, boolean) is
  'a text with its templates filled; raises PR009 if a value does not fit or the text exceeds 1 MB';
