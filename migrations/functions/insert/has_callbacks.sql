-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function into queue_new_jobs and all queries that make rows of ready and scheduled.
create or replace function postrider_internal.has_callbacks(p_job postrider.jobs) returns boolean
language sql immutable parallel safe
as $$
  select num_nonnulls(p_job.on_success, p_job.on_failure, p_job.callback_url) > 0 or p_job.notify
$$;
comment on function postrider_internal.has_callbacks(postrider.jobs) is
  'whether the end of a job goes through outcomes: it has a callback, a callback_url or notify';
