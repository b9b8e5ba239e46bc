-- SPDX-License-Identifier: Apache-2.0
-- A job that succeeded with all pages is refused. A job stopped by max_pages may fetch as many pages again. A page
-- whose next reference could not be followed is fetched once more. If the last page is stored and the job still did not
-- succeed, all pages are fetched again. All other jobs continue with the page that failed.
create or replace function postrider_internal.prepare_page_retry(p_job bigint, p_state "char", p_code text,
                                                                 p_from_start boolean) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last postrider_internal.fetched_pages;
begin
  select * into v_last from postrider_internal.fetched_pages p where p.job_id = p_job order by p.page desc limit 1;
  if not found then
    return false;
  elsif v_last.next is null and not v_last.is_stuck and p_state = 's' and not p_from_start then
    raise exception using errcode = 'PR005',
      message = format('job %s has fetched its last page, page %s; it has all %s items', p_job, v_last.page,
                       v_last.total),
      hint = format('select postrider.retry(%s, from_start => true) removes its pages and fetches the list again.',
                    p_job);
  elsif p_from_start then
    delete from postrider_internal.fetched_pages p where p.job_id = p_job;
  elsif v_last.is_stuck then
    delete from postrider_internal.fetched_pages p where p.job_id = p_job and p.page = v_last.page;
  elsif v_last.next is null then
    delete from postrider_internal.fetched_pages p where p.job_id = p_job;
  elsif p_state = 's' or p_code = 'page_limit' then
    update postrider_internal.fetched_pages p
       set bound = v_last.page + coalesce((select (j.paginate ->> 'max_pages')::int from postrider.jobs j
                                           where j.id = p_job), 1000)
     where p.job_id = p_job and p.page = v_last.page;
  else
    return false;
  end if;
  return true;
end
$$;
comment on function postrider_internal.prepare_page_retry(bigint, "char", text, boolean) is
  'prepares the pages of a finished job for retry; true: the next call differs and needs another key';
