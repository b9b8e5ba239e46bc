-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.take_aborts(p_worker int)
returns table (job_id bigint, fence bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  return query
  delete from postrider_internal.aborts a where a.worker = p_worker returning a.job_id, a.fence;
end
$$;
comment on function postrider_internal.take_aborts(int) is
  'returns and deletes the requests to abort running calls of a worker whose jobs were cancelled';
