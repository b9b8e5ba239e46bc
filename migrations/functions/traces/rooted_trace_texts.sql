-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.rooted_trace_texts(p_job postrider.jobs) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_job.traceparent is not null then
    return postrider_internal.trace_texts(p_job);
  end if;
  return postrider_internal.trace_texts(p_job) || array[':root', coalesce((
    select t.root_id from postrider_internal.trees t where t.job_id = p_job.parent_id), p_job.id)::text];
end
$$;
comment on function postrider_internal.rooted_trace_texts(postrider.jobs) is
  'trace_texts of a job; without traceparent also the id of its root, whose trace it shares';
