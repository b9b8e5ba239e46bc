-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function into claim. Plain jobs pay only for the check of their row.
create or replace function postrider_internal.has_preparation(p_job postrider.jobs) returns boolean
language sql immutable parallel safe
as $$
  select p_job.service is not null or p_job.cache_ttl is not null or p_job.response_format <> 'raw'
      or p_job.validator is not null or p_job.extract is not null or p_job.result_type <> 'any'
      or p_job.body_parts is not null or p_job.download_to is not null or p_job.paginate is not null
      or p_job.credential is not null or p_job.decode is not null or p_job.require_data is not null
      or p_job.max_redirects is not null or p_job.rules is not null or p_job.operation_rules is not null
      or coalesce(p_job.tag = 'webhook', false)
$$;
comment on function postrider_internal.has_preparation(postrider.jobs) is
  'whether a job needs prepare before its call and judge after it';
