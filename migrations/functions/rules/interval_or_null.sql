-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.interval_or_null(p_value jsonb) returns interval
language plpgsql stable strict
set search_path = pg_catalog, pg_temp
set intervalstyle = 'postgres'
as $$
begin
  if jsonb_typeof(p_value) <> 'string' then
    return null;
  end if;
  return (p_value #>> '{}')::interval;
exception when others then
  if postrider_internal.is_transient_error(sqlstate) then
    raise;
  end if;
  return null;
end
$$;
comment on function postrider_internal.interval_or_null(jsonb) is
  'a JSON text as an interval; null: it is none';
