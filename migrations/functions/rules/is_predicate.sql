-- SPDX-License-Identifier: Apache-2.0
-- A predicate gives exactly one value on each JSON: true, false, or null for unknown. A path gives the values that it
-- finds, and on an empty object it finds none. If the evaluation fails, the path counts as a predicate.
create or replace function postrider_internal.is_predicate(p_path jsonpath) returns boolean
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select count(*) = 1 and bool_and(jsonb_typeof(v.value) in ('boolean', 'null'))
            from jsonb_path_query('{}', p_path, '{}', true) as v(value));
exception when others then
  if postrider_internal.is_transient_error(sqlstate) then
    raise;
  end if;
  return true;
end
$$;
comment on function postrider_internal.is_predicate(jsonpath) is
  'whether a jsonpath is a condition, like $.status == 404, and not a path to values';
