-- SPDX-License-Identifier: Apache-2.0
-- begin_job commits the row of hook_starts after the hooks have run. Without that row they are running, or wait for
-- other hooks of their worker. A hook that was registered after the claim (p_since) does not apply to this call.
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
  'whether the will_start hooks of a job claimed at this time have not ended yet, so that its call waits';
