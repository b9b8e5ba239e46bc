-- SPDX-License-Identifier: Apache-2.0
-- A plain path through an array finds one value in each element (lax mode), and all of them are kept.
create or replace function postrider_internal.path_value(p_json jsonb, p_path jsonpath) returns jsonb
language plpgsql immutable strict parallel safe
as $$
declare
  v_all jsonb;
begin
  v_all := jsonb_path_query_array(p_json, p_path, '{}', true);
  if not postrider_internal.is_plural_extract(p_path) and jsonb_array_length(v_all) < 2 then
    return v_all -> 0;
  end if;
  return v_all;
end
$$;
comment on function postrider_internal.path_value(jsonb, jsonpath) is
  'the values of a path: one value for a plain path, an array if it may find several; null: nothing found';
