-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.refuse_job_changes() returns trigger
language plpgsql
as $$
begin
  raise exception using errcode = 'PR007', schema = 'postrider', table = 'jobs',
    message = format('jobs: %s is refused, because an inserted job never changes', tg_op),
    hint = 'Use postrider.cancel(id), postrider.reschedule(id, run_at, priority) or postrider.retry(id). postrider.purge(before) deletes finished jobs.';
end
$$;
comment on function postrider_internal.refuse_job_changes() is
  'statement trigger of jobs: refuses UPDATE, DELETE and TRUNCATE';

create or replace trigger jobs_keep
  before update or delete or truncate on postrider.jobs
  for each statement execute function postrider_internal.refuse_job_changes();
