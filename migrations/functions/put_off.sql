-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.put_off(p_job bigint) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update postrider.outcomes o
     set tries = least(o.tries + 1, 100), due_at = clock_timestamp() + least(interval '1 min', interval '0.25 s' * 2 ^ least(o.tries, 10))
   where o.job_id = p_job
$$;
comment on function postrider.put_off(bigint) is
  'private: a job in outcomes could not be concluded; it is tried again later, so that it does not stop the others';
