-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.filled_job(p_job postrider.jobs) returns postrider.jobs
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_filled postrider_internal.filled_templates;
begin
  if p_job.parent_id is null then
    return p_job;
  end if;
  select d.* into v_filled from postrider_internal.filled_templates d where d.job_id = p_job.id;
  if found then
    p_job.url := coalesce(v_filled.url, p_job.url);
    p_job.query := coalesce(v_filled.query, p_job.query);
    p_job.headers := coalesce(v_filled.headers, p_job.headers);
    p_job.body_json := coalesce(v_filled.body_json, p_job.body_json);
    p_job.body_form := coalesce(v_filled.body_form, p_job.body_form);
    p_job.body_parts := coalesce(v_filled.body_parts, p_job.body_parts);
  end if;
  return p_job;
end
$$;
comment on function postrider_internal.filled_job(postrider.jobs) is
  'the row of a job as it is sent: a member with its templates filled, other jobs unchanged';
