-- SPDX-License-Identifier: Apache-2.0
-- Each kind of copy differs in one value. A restored dump or a database made from a template has another oid of the
-- database or of the table. A promoted standby or a recovery to an earlier moment has another timeline. Another cluster
-- has another system identifier.
--
-- The timeline of the checkpoint lags behind a promotion, so it is read only on a standby. Cost: 6 µs (PostgreSQL 15).
create or replace function postrider_internal.current_identity(
  out system_identifier bigint, out timeline int, out database_oid oid, out workers_oid oid)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_is_in_recovery() then
    select c.timeline_id into timeline from pg_control_checkpoint() c;
  else
    timeline := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int;
  end if;
  select s.system_identifier, d.oid, 'postrider_internal.workers'::regclass::oid
    into system_identifier, database_oid, workers_oid
    from pg_control_system() s, pg_database d where d.datname = current_database();
end
$$;
comment on function postrider_internal.current_identity() is
  'the values by which the server identifies the database of this session';
