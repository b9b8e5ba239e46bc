-- SPDX-License-Identifier: Apache-2.0
-- The search path here is only pg_catalog, so a function is found by its schema or not at all. Parameter types are
-- compared as types. Their names may be quoted, depending on quote_all_identifiers.
--
-- A function without its own search path runs with its schema in the path, so that it finds its tables. This does not
-- hold if PUBLIC may create objects in that schema. Then any role could replace a function that it calls.
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
  'the name and search path to call a function that takes these types (like "bigint, text"); nulls: not found';
