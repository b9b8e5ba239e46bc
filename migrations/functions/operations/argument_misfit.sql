-- SPDX-License-Identifier: Apache-2.0
-- after: operations/argument_values.sql
create or replace function postrider_internal.argument_misfit(p_type jsonb, p_value jsonb, p_name text) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_allowed text[] := postrider_internal.argument_values(p_type);
begin
  if v_allowed is null then
    return postrider_internal.validator_mismatch(p_type, p_value, p_name);
  elsif jsonb_typeof(p_value) = 'string' and p_value #>> '{}' = any (v_allowed) then
    return null;
  end if;
  return format('%s should be one of %s', p_name, left(array_to_string(v_allowed, ', '), 200));
end
$$;
comment on function postrider_internal.argument_misfit(jsonb, jsonb, text) is
  'how the value of an argument differs from its type, without quoting it; null: it fits';
