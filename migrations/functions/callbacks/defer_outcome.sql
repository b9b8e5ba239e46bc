-- SPDX-License-Identifier: Apache-2.0
-- After five delays the job ends without functions (conclude_one). Delays caused by a shortage of the database count at
-- most up to four until the job has waited for 15 minutes. A time limit (57014) always counts, because the functions
-- may have caused it.
create or replace function postrider_internal.defer_outcome(p_job bigint, p_failure text default null,
                                                            p_sqlstate text default null) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update postrider_internal.outcomes o
     set tries = case when postrider_internal.is_shortage(p_sqlstate) and p_sqlstate <> '57014'
       and o.finished_at > clock_timestamp() - interval '15 min'
                   then greatest(o.tries, least(o.tries + 1, 4)) else least(o.tries + 1, 100) end,
         due_at = clock_timestamp() + least(interval '1 min', interval '0.25 s' * 2 ^ least(o.tries, 10)),
         failure = coalesce(left(p_failure, 2000), o.failure)
   where o.job_id = p_job
$$;
comment on function postrider_internal.defer_outcome(bigint, text, text) is
  'delays a job of outcomes that could not be concluded, with the reason, so that it does not block other jobs';
