-- SPDX-License-Identifier: Apache-2.0
-- An argument that is a template has a value only when the step's turn has come.
--
-- p_types: null for most jobs. p_values: the values by template. A template that the operation does not use has none.
create or replace function postrider_internal.check_filled_arguments(p_arguments jsonb, p_types jsonb,
                                                                     p_values jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_type jsonb;
  v_value jsonb;
  v_misfit text;
begin
  for v_name, v_type in select k.key, k.value from jsonb_each(p_types) k where p_types is not null loop
    v_value := p_values -> btrim(substring(p_arguments ->> rtrim(v_name, '?') from E'^\\{\\{([^{}]*)\\}\\}$'),
                                 E' \t\r\n');
    continue when v_value is null or v_value = 'null' and v_name like '%?';
    v_misfit := case when v_value = 'null' then v_name || ' is null; check the answer that it comes from'
                     else postrider_internal.argument_misfit(v_type, v_value, rtrim(v_name, '?')) end;
    if v_misfit is not null then
      raise exception using errcode = 'PR009', message = 'arguments: ' || v_misfit;
    end if;
  end loop;
end
$$;
comment on function postrider_internal.check_filled_arguments(jsonb, jsonb, jsonb) is
  'raises PR009 if the value of a template does not fit the argument that it fills';
