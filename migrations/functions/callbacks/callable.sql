-- SPDX-License-Identifier: Apache-2.0
-- The search path holds nothing but pg_catalog here, so a function is found under its schema or not at all. What it
-- takes is compared by types and not by their names, which are written in quotes where quote_all_identifiers says so.
--
-- A function that sets no search path of its own runs with that of its schema, so that it finds its tables; unless
-- everybody may create objects there: then anybody could put a function under the name of one that it calls.
create or replace function postrider_internal.callable(p_function text, p_takes text, out call text, out path text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select format('%I.%I', n.nspname, p.proname),
         case when has_schema_privilege('public', n.oid, 'CREATE') then 'pg_catalog, pg_temp'
              else format('pg_catalog, %I, pg_temp', n.nspname) end
    into call, path
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where p.oid = to_regprocedure(p_function) and p.prokind = 'f'
     and p.oid = to_regprocedure(format('%I.%I(%s)', n.nspname, p.proname, p_takes))
     and n.nspname !~ '^pg_temp';
end
$$;
comment on function postrider_internal.callable(text, text) is
  'the name to call a function by and the search path to do so, if it exists and takes these types (as in "bigint, text"); else nulls';
