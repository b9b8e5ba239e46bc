-- SPDX-License-Identifier: Apache-2.0
-- Used when a hook cancels its own job: the job has not been called yet, although a worker holds it.
create or replace function postrider_internal.has_begun_in_transaction(p_job bigint) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from postrider_internal.hook_starts s
                 where s.job_id = p_job and s.xmin = pg_current_xact_id()::xid)
$$;
comment on function postrider_internal.has_begun_in_transaction(bigint) is
  'whether the will_start hooks of a job run in this transaction';
