-- SPDX-License-Identifier: Apache-2.0
-- Also without a lease, because the server has acted.
create or replace function postrider_internal.invalidate_changed_urls(
  p_worker int, p_attempts postrider_internal.finished_attempt[], p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.invalidate_changed_url(postrider_internal.filled_job(j), case when s.has_servers
                                                    then postrider_internal.keyed_service(s, p_worker)
                                                      else s end, x.headers)
     from unnest(p_attempts) x
     join postrider.jobs j on j.id = any (array[x.job_id])
     join postrider.services s on s.name = j.service
    where x.job_id = any (p_jobs) and (x.status between 200 and 399 or x.redirected);
end
$$;
comment on function postrider_internal.invalidate_changed_urls(int, postrider_internal.finished_attempt[], bigint[]) is
  'makes the cached answers of URLs invalid that the calls of these jobs may have changed';
