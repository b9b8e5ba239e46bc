-- SPDX-License-Identifier: Apache-2.0
-- Keys joined by dots, or a jsonpath of only keys and indexes: variables.after, $.variables.after, $."page-token",
-- $[0].after.
create or replace function postrider_internal.page_path(p_path text) returns text[]
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_path text;
  v_steps text[] := '{}';
  v_step text[];
begin
  if p_path ~ E'^[^]."$*()?@\\s[]+(\\.[^]."$*()?@\\s[]+)*$' then
    return string_to_array(p_path, '.');
  end if;
  begin
    v_path := (case left(p_path, 1) when '$' then '' when '[' then '$' else '$.' end || p_path)::jsonpath::text;
  exception when others then
    return null;
  end;
  if v_path !~ E'^\\$(\\."([^"\\\\]|\\\\.)*"|\\[[0-9]{1,4}\\])+$' then
    return null;
  end if;
  for v_step in select regexp_matches(v_path, E'\\.("(?:[^"\\\\]|\\\\.)*")|\\[([0-9]+)\\]', 'g') loop
    v_steps := v_steps || coalesce(v_step[1]::jsonb #>> '{}', v_step[2]);
  end loop;
  return v_steps;
end
$$;
comment on function postrider_internal.page_path(text) is
  'the keys and indexes of the place in a JSON body that paginate sets for each page; null: invalid path';
