-- SPDX-License-Identifier: Apache-2.0
-- after: workers/is_identified.sql
-- queue_new_jobs calls this at the first INSERT of each session. In a session that began between a restore and the
-- first worker, it calls this at each INSERT. Other jobs had the same ids after the backup. So end_restored gives these
-- jobs Idempotency-Keys with a new first part.
--
-- The number is read before the check. A worker may store the new identity between the two statements.
create or replace function postrider_internal.record_early_insert(p_first bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_newest int;
begin
  if p_first is not null then
    select max(i.number) into v_newest from postrider_internal.identities i;
    if not postrider_internal.is_identified() then
      insert into postrider_internal.early_inserts (first_id, after_identity) values (p_first, v_newest);
    end if;
  end if;
end
$$;
comment on function postrider_internal.record_early_insert(bigint) is
  'records the lowest id of an INSERT if no worker has found yet that the database was restored';
