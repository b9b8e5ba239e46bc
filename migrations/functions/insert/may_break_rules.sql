-- SPDX-License-Identifier: Apache-2.0
-- after: insert/is_valid_with_operation.sql, insert/is_valid_with_service.sql, templates/job_is_templated.sql
-- PostgreSQL inlines this function into queue_new_jobs. The last condition covers rules of batches and chains that the
-- quick checks do not cover. queue_new_jobs looks up callbacks itself, because a function with a subquery is not
-- inlined.
create or replace function postrider_internal.may_break_rules(p_job postrider.jobs, p_service postrider.services,
                                                              p_most_bytes bigint) returns boolean
language sql stable
as $$
  select case when p_job.operation is null then postrider_internal.is_valid_with_service(p_job, p_service)
              else postrider_internal.is_valid_with_operation(p_job) end is not true
      or postrider_internal.is_small_body(p_job) is not true
         and postrider_internal.body_bytes(p_job, p_most_bytes) > p_most_bytes
      or p_job.parent_id is not null
         and (p_job.name in ('prev', 'item', 'results')
              or postrider_internal.job_is_templated(p_job)
                 and (postrider_internal.job_template_defect(p_job)).column_name is not null)
$$;
comment on function postrider_internal.may_break_rules(postrider.jobs, postrider.services, bigint) is
  'whether job_defect must check a job with its service (nulls: none); leaves out callbacks';
