-- SPDX-License-Identifier: Apache-2.0
-- A session never changes its database. So a claim reads the setting that this function leaves in the session, and
-- calls the function only if the setting is missing. Behind PgBouncer one connection of a worker uses several sessions
-- of the server, and each is checked once.
--
-- The setting holds the oid of the table workers, because the schema may be dropped and restored during one session.
create or replace function postrider_internal.is_identified() returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_same boolean;
begin
  select (i.system_identifier, i.timeline, i.database_oid, i.workers_oid)
         = (r.system_identifier, r.timeline, r.database_oid, r.workers_oid)
    into v_is_same
    from (select * from postrider_internal.identities order by number desc limit 1) i,
      postrider_internal.current_identity() r;
  perform set_config('postrider.identified', case when v_is_same
                     then ('postrider_internal.workers'::regclass::oid)::text else '' end, false);
  return coalesce(v_is_same, false);
end
$$;
comment on function postrider_internal.is_identified() is
  'whether the newest identity describes the database of this session; false after a restore that no worker has found';
