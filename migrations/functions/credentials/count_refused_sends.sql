-- SPDX-License-Identifier: Apache-2.0
-- after: queue/find_ready_row.sql
create or replace function postrider_internal.count_refused_sends(p_job bigint) returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 1 + count(*)
    from postrider_internal.past_attempts t
   where t.job_id = p_job and t.error_code = 'token_expired'
     -- After a cancel and a retry the attempt number differs from earlier calls.
     and t.attempt = (select p.attempt from postrider_internal.find_ready_row(p_job) p)
     and t.fence > coalesce((
           select max(o.fence) from postrider_internal.past_attempts o
            where o.job_id = p_job and o.error_code is distinct from 'token_expired'), 0)
$$;
comment on function postrider_internal.count_refused_sends(bigint) is
  'how many calls in a row had their token refused, for a job that is being judged, with the present one';
