-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.next_page_phrase(p_job postrider.jobs) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when p_job.paginate is null then ''
              else format('; page %s is next',
                          coalesce((select max(p.page) from postrider_internal.fetched_pages p
                                    where p.job_id = p_job.id), 0) + 1) end
$$;
comment on function postrider_internal.next_page_phrase(postrider.jobs) is
  'the page that a job with paginate fetches next, as the rest of a sentence; empty for other jobs';
