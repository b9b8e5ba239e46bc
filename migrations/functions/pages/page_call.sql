-- SPDX-License-Identifier: Apache-2.0
-- The page is the one after the last stored page. A link is called as the server wrote it, so the job's own query is
-- not added; the arguments of the service are. If headers and body_json are null, the job's own values apply.
create or replace function postrider_internal.page_call(p_job postrider.jobs, out url text, out query jsonb,
                                                        out headers jsonb, out body_json jsonb)
language plpgsql stable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last postrider_internal.fetched_pages;
  v_spec jsonb := p_job.paginate;
  v_size jsonb := case when v_spec ? 'size_param' then v_spec -> 'size' end;
  v_value jsonb;
begin
  select * into v_last from postrider_internal.fetched_pages p where p.job_id = p_job.id order by p.page desc limit 1;
  if v_spec ->> 'style' = 'link' and v_last.page is not null then
    url := regexp_replace(v_last.target, '^([A-Za-z]+://)',
             E'\\1' || replace(coalesce(substring(p_job.url from '^[A-Za-z]+://([^/?#]*@)'), ''), E'\\', E'\\\\'));
    return;
  end if;
  url := p_job.url;
  query := coalesce(p_job.query, '{}');
  v_value := case
    when v_spec ->> 'style' = 'link' then null
    when v_last.page is not null then coalesce(v_last.cursor, to_jsonb(v_last.next))
    when v_spec ? 'start' then v_spec -> 'start'
    when v_spec ->> 'style' = 'page' then '1'
    when v_spec ->> 'style' = 'offset' then '0' end;
  if v_spec ->> 'in' = 'body' then
    body_json := p_job.body_json;
    if v_size is not null then
      body_json := postrider_internal.json_put(body_json, postrider_internal.page_path(v_spec ->> 'size_param'),
                                               v_size);
    end if;
    if v_value is not null then
      body_json := postrider_internal.json_put(body_json, postrider_internal.page_path(v_spec ->> 'param'), v_value);
    end if;
    return;
  end if;
  -- Otherwise each element of an array would become a separate argument or header.
  query := case when v_size is not null then jsonb_build_object(v_spec ->> 'size_param', v_size #>> '{}') else '{}' end
    || case when v_value is not null then jsonb_build_object(v_spec ->> 'param', v_value #>> '{}') else '{}' end;
  if v_spec ->> 'in' = 'header' then
    headers := coalesce(p_job.headers, '{}') || query;
    query := coalesce(p_job.query, '{}');
  else
    query := coalesce(p_job.query, '{}') || query;
  end if;
end
$$;
comment on function postrider_internal.page_call(postrider.jobs) is
  'url, query, headers and JSON body of a job with paginate for its next page';
