-- SPDX-License-Identifier: Apache-2.0
-- after: is_identified.sql
-- The first INSERT of each session asks, and all of a session that began between a restore and the first worker. Their jobs have ids that
-- jobs of the time after the backup had, too, so end_restored gives them keys with a new first part.
create or replace function postrider.note_early(p_first bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_first is not null and not postrider.is_identified() then
    insert into postrider.early_inserts (first_id) values (p_first);
  end if;
end
$$;
comment on function postrider.note_early(bigint) is
  'private: notes the lowest id of an INSERT if no worker has found yet that the database was restored';
