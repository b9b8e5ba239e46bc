-- SPDX-License-Identifier: Apache-2.0
-- Without p_failure once.
drop function if exists postrider.put_off(bigint);
create or replace function postrider.put_off(p_job bigint, p_failure text default null) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update postrider.outcomes o
     set tries = least(o.tries + 1, 100), due_at = clock_timestamp() + least(interval '1 min', interval '0.25 s' * 2 ^ least(o.tries, 10)),
         failure = coalesce(left(p_failure, 2000), o.failure)
   where o.job_id = p_job
$$;
comment on function postrider.put_off(bigint, text) is
  'private: a job in outcomes could not be concluded, and why, if that is known; it is tried again later, so that it does not stop the others';
