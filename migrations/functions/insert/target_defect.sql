-- SPDX-License-Identifier: Apache-2.0
-- p_is_new: checks also that the service has the base URL, cdn_url and credential that the job needs. A member that
-- expand inserts was checked for this with its batch.
create or replace function postrider_internal.target_defect(
  p_job postrider.jobs, p_service postrider.services, p_is_new boolean, out column_name text, out reason text,
  out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_url text;
  v_has_no_base boolean := false;
begin
  if p_service.base_url is null and p_service.name is not null then
    select t.base_url into p_service.base_url
      from postrider_internal.server_routes t where t.service = p_service.name order by t.position limit 1;
  end if;
  if p_is_new and p_job.login_required and postrider_internal.used_credential(p_job.credential, p_service.credential)
    is null then
    column_name := 'login_required';
    reason := case when p_job.credential = 'none' then 'the job has credential ''none'''
      else 'neither the job nor its service has a credential' end;
    hint := 'Give credential, or set services.credential; both imply login_required.';
    return;
  end if;
  if p_is_new and p_job.use_cdn and p_service.cdn_url is null then
    column_name := 'use_cdn';
    reason := 'the job has no service with a cdn_url';
    hint := 'Set services.cdn_url, or leave use_cdn out.';
    return;
  end if;
  if p_job.url like '//%' then
    column_name := 'url';
    reason := 'names a host but no scheme';
    hint := 'Write https: before it, or give a path.';
    return;
  end if;
  v_url := postrider_internal.job_url(
    case when p_job.parent_id is not null then postrider_internal.template_sample(p_job.url)
      else p_job.url end, p_job.use_cdn, p_service);
  if v_url is not null and p_job.service is not null and not postrider_internal.url_is_absolute(v_url) then
    v_has_no_base := true;
    if p_is_new then
      column_name := 'url';
      reason := 'is relative, and the service has neither a base_url nor servers';
      hint := 'Set services.base_url, insert into servers, or give an absolute URL.';
      return;
    end if;
  end if;
  select 'url', d.reason, d.hint into column_name, reason, hint from postrider_internal.url_defect(v_url) d
   where d.reason is not null and not v_has_no_base;
end
$$;
comment on function postrider_internal.target_defect(postrider.jobs, postrider.services, boolean) is
  'the first broken rule about the URL of a request and the service behind it; nulls: none';
