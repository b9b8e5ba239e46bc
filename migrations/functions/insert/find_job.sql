-- SPDX-License-Identifier: Apache-2.0
-- after: insert/find_key_owner.sql
-- Reads job_status, so a role finds only jobs that it may see. The key of a finished job is free.
create or replace function postrider.find_job(dedupe_key text, queue text default 'default') returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.id from postrider.job_status s
   where s.id = postrider_internal.find_key_owner(find_job.queue, find_job.dedupe_key) and s.finished_at is null
$$;
comment on function postrider.find_job(text, text) is
  'returns the id of the unfinished job of a queue with this dedupe_key; null: no such job, or hidden from the caller';
