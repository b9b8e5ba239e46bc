-- SPDX-License-Identifier: Apache-2.0
-- Called at the end of each migration, as the migrating role. Roles belong to the whole cluster. They are created if
-- absent and never dropped, and another database may create them at the same moment.
--
-- The schema goes to postrider_owner if the migrating role may use the rights of that role and change to it. From
-- PostgreSQL 16 on this needs the admin option of the role, which its creator has, or a grant by a role with that
-- option. Both options of the membership are named, because createrole_self_grant and NOINHERIT may have left one off.
--
-- Otherwise the schema stays with its owner. The owner needs no membership to give the other roles their rights. But
-- rerun_callback is not granted in this case, because it runs functions of the application as the schema's owner.
-- postrider_owner has no rights outside of this schema, but a login may have databases and create roles.
--
-- Even without a new migration there may be work. Objects of an upgrade with --no-roles belong to the role that ran it,
-- and a restore without privileges gave none. The rights of the worker to all objects, and PUBLIC without rights, stand
-- for the rest. Ranges of ids added since need no rights, because they are used through jobs and results.
create or replace function postrider_internal.set_up_roles(p_is_changed boolean) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_roles text[] := '{postrider_owner,postrider_worker,postrider_client,postrider_admin,postrider_reader}';
  v_role text;
  v_object text;
  v_grants_by_option constant boolean := current_setting('server_version_num')::int >= 160000;
  v_note text;
begin
  if not p_is_changed and not exists (select from unnest(v_roles) r (name) where to_regrole(r.name) is null)
     and not exists (select from postrider_internal.not_owned_by('postrider_owner'))
     and not exists (
           select from pg_class c
            where c.relnamespace = any (postrider_internal.own_schemas())
              and c.relkind in ('r', 'p', 'v') and not c.relispartition
              and not has_table_privilege(to_regrole('postrider_worker'), c.oid, 'select'))
     and not exists (
           select from pg_proc p
            where p.pronamespace = any (postrider_internal.own_schemas())
              and (not has_function_privilege(to_regrole('postrider_worker'), p.oid, 'execute')
                     and p.proname not in ('act_on_jobs', 'cancel_as', 'pause_lane_as', 'record_admin_action')
                   or exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                              where a.grantee = 0))) then
    return null;
  end if;
  begin
    foreach v_role in array v_roles loop
      if to_regrole(v_role) is null then
        begin
          execute format('create role %I', v_role);
        exception when duplicate_object or unique_violation then
          continue;
        end;
      end if;
    end loop;
  exception when insufficient_privilege then
    return format('roles and privileges stay as they are: %s', sqlerrm);
  end;

  begin
    if not (pg_has_role(current_user, 'postrider_owner', 'usage')
            and pg_has_role(current_user, 'postrider_owner', case when v_grants_by_option then 'set'
                            else 'member' end)) then
      execute format('grant postrider_owner to %I %s', current_user,
        case when v_grants_by_option then 'with inherit true, set true' end);
      if not pg_has_role(current_user, 'postrider_owner', 'usage') then
        raise insufficient_privilege using message
          = format('%I does not inherit the rights of postrider_owner', current_user);
      end if;
    end if;
    for v_object in select o.object from postrider_internal.not_owned_by('postrider_owner') o loop
      execute format('alter %s owner to postrider_owner', v_object);
    end loop;
  exception when insufficient_privilege then
    v_note := format('the roles have their rights, but postrider_owner does not own all of the schema: %s', sqlerrm);
  end;

  begin
    perform postrider_internal.grant_rights();
  exception when insufficient_privilege then
    return format('roles and privileges stay as they are: %s', sqlerrm);
  end;
  return v_note;
end
$$;
comment on function postrider_internal.set_up_roles(boolean) is
  'creates the roles, gives the schema to postrider_owner and each role its rights; returns a reason if it could not';
