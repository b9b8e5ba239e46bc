-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.rule_path_defect(p_path text) returns text
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_defect constant text := postrider_internal.jsonpath_text_defect(p_path);
  v_names text[];
begin
  if v_defect is not null then
    return v_defect;
  end if;
  v_names := postrider_internal.run_if_names(p_path::jsonpath);
  if v_names is null then
    return 'has a $ that names no part of the answer';
  end if;
  return (select format('reads $%s, which is not a part of an answer',
                        postrider_internal.json_path_key(left(n, 100)))
            from unnest(v_names) n where n not in ('status', 'headers', 'body', 'text') limit 1);
end
$$;
comment on function postrider_internal.rule_path_defect(text) is
  'why a jsonpath of a rule is refused; null: it reads only $.status, $.headers, $.body and $.text';
