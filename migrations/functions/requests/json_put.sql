-- SPDX-License-Identifier: Apache-2.0
-- Unlike jsonb_set it creates missing objects on the path. page_body_defect has checked that the path is possible.
create or replace function postrider_internal.json_put(p_json jsonb, p_path text[], p_value jsonb) returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  for i in 1 .. cardinality(p_path) - 1 loop
    if coalesce(p_json #> p_path[:i], 'null') = 'null' then
      p_json := jsonb_set(p_json, p_path[:i], '{}');
    end if;
  end loop;
  return jsonb_set(p_json, p_path, p_value);
end
$$;
comment on function postrider_internal.json_put(jsonb, text[], jsonb) is
  'a JSON value with another value at the given path; missing objects on the path are created';
