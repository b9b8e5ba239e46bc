-- SPDX-License-Identifier: Apache-2.0
-- In the text form of a path each key is quoted. So once strings are emptied, each $ before a name reads $."".
create or replace function postrider_internal.run_if_names(p_path jsonpath) returns text[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when regexp_replace(p_path::text, E'"(?:[^"\\\\]|\\\\.)*"', '""', 'g') !~ E'\\$(?!\\."")' then array(
      select distinct ('"' || m.found[1] || '"')::jsonb #>> '{}'
        from regexp_matches(p_path::text, E'\\$\\."((?:[^"\\\\]|\\\\.)*)"|"(?:[^"\\\\]|\\\\.)*"', 'g') as m(found)
       where m.found[1] is not null)
  end
$$;
comment on function postrider_internal.run_if_names(jsonpath) is
  'the names that a run_if uses, including prev and item; null if a $ has no name';
