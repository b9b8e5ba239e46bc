-- SPDX-License-Identifier: Apache-2.0
-- The page is the one after the last that is stored. A link is called as the server wrote it, so the job's own query is
-- not added to it; what the service adds to each call is.
create or replace function postrider.page_call(p_job postrider.jobs, out url text, out query jsonb)
language plpgsql stable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last postrider.fetched_pages;
  v_spec jsonb := p_job.paginate;
begin
  select * into v_last from postrider.fetched_pages p where p.job_id = p_job.id order by p.page desc limit 1;
  if v_spec ->> 'style' = 'link' and v_last.page is not null then
    url := regexp_replace(v_last.target, '^([A-Za-z]+://)',
             E'\\1' || replace(coalesce(substring(p_job.url from '^[A-Za-z]+://([^/?#]*@)'), ''), E'\\', E'\\\\'));
    return;
  end if;
  url := p_job.url;
  query := coalesce(p_job.query, '{}')
    || case when v_spec ? 'size_param' then jsonb_build_object(v_spec ->> 'size_param', v_spec -> 'size') else '{}' end
    || case
         when v_spec ->> 'style' = 'link' then '{}'
         when v_last.page is not null then jsonb_build_object(v_spec ->> 'param', v_last.next)
         when v_spec ? 'start' then jsonb_build_object(v_spec ->> 'param', v_spec -> 'start')
         when v_spec ->> 'style' = 'page' then jsonb_build_object(v_spec ->> 'param', 1)
         when v_spec ->> 'style' = 'offset' then jsonb_build_object(v_spec ->> 'param', 0)
         else '{}' end;
end
$$;
comment on function postrider.page_call(postrider.jobs) is
  'private: url and query of a job with paginate for the page that it has reached';
