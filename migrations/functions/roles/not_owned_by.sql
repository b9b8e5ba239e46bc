-- SPDX-License-Identifier: Apache-2.0
-- The schema comes first, because its objects can only be given to a role that may create objects there. Sequences of
-- columns, row types of tables and indexes follow their tables.
create or replace function postrider_internal.not_owned_by(p_role name) returns table (object text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select o.object
    from (select 1, format('schema %I', n.nspname), n.nspowner from pg_namespace n
          where n.nspname in ('postrider', 'postrider_internal')
          union all
          select 2, format('%s %s', case c.relkind when 'v' then 'view' when 'S' then 'sequence'
                           else 'table' end, c.oid::regclass), c.relowner
            from pg_class c
           where c.relnamespace = any (postrider_internal.own_schemas())
             and c.relkind in ('r', 'p', 'v', 'S')
             and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
                             and d.deptype in ('a', 'i')
                                and d.refclassid = 'pg_class'::regclass and c.relkind = 'S')
          union all
          select 3, format('type %s', t.oid::regtype), t.typowner
            from pg_type t left join pg_class c on c.oid = t.typrelid
           where t.typnamespace = any (postrider_internal.own_schemas())
             and t.typtype in ('c', 'd', 'e') and coalesce(c.relkind, 'c') = 'c'
          union all
          select 4, format('function %s', p.oid::regprocedure), p.proowner
            from pg_proc p where p.pronamespace = any (postrider_internal.own_schemas())) o (rank, object, owner)
   where o.owner <> to_regrole(quote_ident(p_role))
   order by o.rank
$$;
comment on function postrider_internal.not_owned_by(name) is
  'all objects of the schema that another role owns, as ALTER … OWNER names them, in a valid order';
