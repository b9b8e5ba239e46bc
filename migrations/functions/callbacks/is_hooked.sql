-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
create or replace function postrider_internal.is_hooked(p_job bigint) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from postrider.hooks h
      join postrider.jobs j on j.id = p_job
     where (h.service is null or h.service = j.service) and (h.queue is null or h.queue = j.queue));
end
$$;
comment on function postrider_internal.is_hooked(bigint) is
  'whether a hook of any event applies to a job, so that its end goes through outcomes';
