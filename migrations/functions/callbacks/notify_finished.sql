-- SPDX-License-Identifier: Apache-2.0
-- A message holds at most 300 ids. With 19 digits each, they take 6 kB of the 8 kB that a message may have.
create or replace function postrider_internal.notify_finished(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  for i in 0 .. (cardinality(p_jobs) - 1) / 300 loop
    perform pg_notify('postrider_finished', array_to_string(p_jobs[i * 300 + 1 : i * 300 + 300], ','));
  end loop;
end
$$;
comment on function postrider_internal.notify_finished(bigint[]) is
  'sends NOTIFY postrider_finished with ids of jobs, separated by commas';
