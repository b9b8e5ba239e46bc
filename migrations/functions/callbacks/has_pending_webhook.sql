-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.has_pending_webhook(p_job bigint) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from postrider_internal.webhooks w
     where w.source_job_id = p_job and not exists (select from postrider_internal.results r where r.job_id = w.job_id))
$$;
comment on function postrider_internal.has_pending_webhook(bigint) is
  'whether a webhook about the job has not ended; it reads the job when it is sent';
