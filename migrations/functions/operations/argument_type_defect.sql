-- SPDX-License-Identifier: Apache-2.0
-- after: operations/argument_values.sql
create or replace function postrider_internal.argument_type_defect(p_types jsonb, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_type jsonb;
begin
  if jsonb_typeof(p_types) <> 'object' then
    reason := 'must be an object';
    hint := 'Like {"id": "number", "full?": "boolean"}.';
    return;
  end if;
  for v_name, v_type in select k.key, k.value from jsonb_each(p_types) k loop
    if v_name !~ '^[A-Za-z_][A-Za-z0-9_]{0,62}[?]?$' then
      reason := format('%s is not a name', to_json(left(v_name, 80)));
      hint := 'A name has up to 63 letters, digits and _; a ? at its end means that it may be missing.';
    elsif v_name like '%?' and p_types ? rtrim(v_name, '?') then
      reason := format('%s is there with and without ?', rtrim(v_name, '?'));
      hint := 'Name each argument once.';
    elsif postrider_internal.argument_values(v_type) is not null then
      select case when cardinality(v.allowed) not between 1 and 1000 or '' = any (v.allowed)
                    or array_position(v.allowed, null) is not null
                  then format('%s: the enum does not hold 1 to 1000 texts', v_name) end into reason
        from (select postrider_internal.argument_values(v_type) as allowed) v;
      hint := 'Like {"enum": ["open", "closed"]}.';
    else
      select d.reason, d.hint into reason, hint from postrider_internal.validator_defect(v_type, v_name) d;
    end if;
    if reason is not null then
      return;
    end if;
  end loop;
  hint := null;
end
$$;
comment on function postrider_internal.argument_type_defect(jsonb) is
  'why operations.arguments is refused, and a hint; nulls: valid';
