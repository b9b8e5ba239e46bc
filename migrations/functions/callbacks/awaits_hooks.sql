-- SPDX-License-Identifier: Apache-2.0
-- They run, or wait for others of their worker, as long as nothing committed says that they have run. One that was
-- registered later than the claim is not for this call.
create or replace function postrider_internal.awaits_hooks(p_job postrider.jobs, p_since timestamptz) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select not exists (select from postrider_internal.hook_starts s where s.job_id = p_job.id)
         and exists (
           select from postrider.hooks h
            where h.event = 'will_start' and h.created_at <= p_since
              and (h.service is null or h.service = p_job.service) and (h.queue is null or h.queue = p_job.queue))
$$;
comment on function postrider_internal.awaits_hooks(postrider.jobs, timestamptz) is
  'whether the will_start hooks of a job that was claimed at a time have yet to end, so that it is not called';
