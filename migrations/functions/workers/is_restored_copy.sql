-- SPDX-License-Identifier: Apache-2.0
-- p_wal is a place that a heartbeat has read as flushed to disk, so no crash takes it back. A number is given only
-- once, so its row has the start of the worker that received it.
create or replace function postrider_internal.is_restored_copy(p_worker int, p_start uuid, p_identity uuid,
                                                               p_wal bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_identity = (select i.id from postrider_internal.identities i order by i.number desc limit 1)
    and (pg_current_wal_flush_lsn() - '0/0' < p_wal
         or exists (select from postrider_internal.workers w where w.id = p_worker and w.start_id is distinct
                    from p_start));
end
$$;
comment on function postrider_internal.is_restored_copy(int, uuid, uuid, bigint) is
  'whether a database with the identity that the worker remembers was set back to an earlier state';
