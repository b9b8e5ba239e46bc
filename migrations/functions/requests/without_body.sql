-- SPDX-License-Identifier: Apache-2.0
-- The kind of the body stays, because it decides on the Content-Type.
create or replace function postrider_internal.without_body(p_job postrider.jobs) returns postrider.jobs
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_job.body := case when p_job.body is not null then ''::bytea end;
  p_job.body_json := case when p_job.body_json is not null then '{}'::jsonb end;
  p_job.body_form := case when p_job.body_form is not null then '{}'::jsonb end;
  p_job.body_parts := case when p_job.body_parts is not null then '[]'::jsonb end;
  return p_job;
end
$$;
comment on function postrider_internal.without_body(postrider.jobs) is
  'the row of a job with an empty body of the same kind';
