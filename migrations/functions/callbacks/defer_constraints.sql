-- SPDX-License-Identifier: Apache-2.0
-- Defers by name, so that constraints which are immediate by default stay so. A name is left out if another constraint
-- of its schema has it and is not deferrable.
create or replace function postrider_internal.defer_constraints() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deferred text := (
    select string_agg(distinct format('%I.%I', n.nspname, c.conname), ', ')
      from pg_constraint c
      join pg_namespace n on n.oid = c.connamespace
     where c.condeferred
       and not exists (
             select from pg_constraint o
              where o.connamespace = c.connamespace and o.conname = c.conname and not o.condeferrable));
begin
  if v_deferred is not null then
    execute format('set constraints %s deferred', v_deferred);
  end if;
end
$$;
comment on function postrider_internal.defer_constraints() is
  'after SET CONSTRAINTS ALL IMMEDIATE, defers those again that are deferred by default';
