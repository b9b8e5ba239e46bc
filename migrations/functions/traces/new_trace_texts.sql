-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.new_trace_texts(p_job postrider.jobs) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return postrider_internal.trace_texts(p_job) || array[':root', coalesce((
    select t.root_id from postrider_internal.trees t where t.job_id = p_job.parent_id), p_job.id)::text];
end
$$;
comment on function postrider_internal.new_trace_texts(postrider.jobs) is
  'trace_texts of a job without traceparent, and the id of its root, whose trace it shares';
