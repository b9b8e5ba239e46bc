-- SPDX-License-Identifier: Apache-2.0
-- after: insert/is_valid_apart_from_request.sql
-- apply_operation leaves only valid requests, or no revision. A null that the row itself gives stays.
create or replace function postrider_internal.is_valid_with_operation(p_job postrider.jobs) returns boolean
language sql stable parallel safe
as $$
  select p_job.operation_revision is not null
     and num_nulls(p_job.method, p_job.response_format, p_job.result_type, p_job.use_cdn, p_job.login_required,
                   p_job.ignore_cache) = 0
     and postrider_internal.is_valid_apart_from_request(p_job)
$$;
comment on function postrider_internal.is_valid_with_operation(postrider.jobs) is
  'whether a job with an operation is valid by quick checks; if false, job_defect decides';
