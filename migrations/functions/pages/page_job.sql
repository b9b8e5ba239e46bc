-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.page_job(p_job postrider.jobs) returns postrider.jobs
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select c.url, c.query into p_job.url, p_job.query from postrider_internal.page_call(p_job) c;
  p_job.response_format := 'json';
  p_job.result_type := 'list';
  p_job.extract := coalesce(p_job.paginate ->> 'items', p_job.extract);
  return p_job;
end
$$;
comment on function postrider_internal.page_job(postrider.jobs) is
  'a job with paginate as a request for its present page, whose result is a list';
