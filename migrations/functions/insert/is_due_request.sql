-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function into queue_new_jobs. Batches, chains and members wait for the end of the
-- transaction (trees_begin).
create or replace function postrider_internal.is_due_request(p_job postrider.jobs) returns boolean
language sql stable parallel safe
as $$
  select p_job.run_at <= now() and p_job.parent_id is null and p_job.kind = 'request'
$$;
comment on function postrider_internal.is_due_request(postrider.jobs) is
  'whether a new job may start now: a request outside batches and chains whose run_at has come';
