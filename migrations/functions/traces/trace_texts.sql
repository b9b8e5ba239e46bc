-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.trace_texts(p_job postrider.jobs) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_job.traceparent is not null then
    return array[p_job.traceparent, coalesce(p_job.tracestate, '')];
  end if;
  return array['', '', coalesce((
    select t.root_id from postrider_internal.trees t where t.job_id = p_job.parent_id), p_job.id)::text];
end
$$;
comment on function postrider_internal.trace_texts(postrider.jobs) is
  'traceparent and tracestate of a job; without them two empty texts and the id of its root, which begins a trace';
