-- SPDX-License-Identifier: Apache-2.0
-- Sets its own search path, because views run it with the rights and the path of the reader. The schema's owner counts
-- too: without the roles, the owner is the role that migrated. Superusers count as members of every role.
create or replace function postrider_internal.sees_all(p_role text default current_user) returns boolean
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(bool_or(pg_has_role(to_regrole(quote_ident(p_role)), r.id, 'usage')), false)
    from (select n.nspowner from pg_namespace n where n.nspname = 'postrider'
          union all
          values (to_regrole('postrider_reader')::oid), (to_regrole('postrider_admin')),
          (to_regrole('postrider_worker'))) r (id)
$$;
comment on function postrider_internal.sees_all(text) is
  'whether a role may see all jobs: reader, admin, worker or owner; other roles see only the jobs they inserted';
