-- SPDX-License-Identifier: Apache-2.0
-- A dump that is restored, and a database made from a template, have another oid of the database or of the table. A
-- promoted standby and a recovery to an earlier moment have another timeline. Another cluster has another system
-- identifier. The checkpoint's timeline lags behind a promotion, so it is read on a standby only. Cost: 6 µs
-- (PostgreSQL 15).
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
  'which database this session is connected to, as the server says';
