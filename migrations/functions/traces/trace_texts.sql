-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function into claim. The names begin with a colon, as no name of a header can, because claim
-- returns them in front of the headers: another column would cost each job 1 µs.
create or replace function postrider_internal.trace_texts(p_job postrider.jobs) returns text[]
language sql immutable parallel safe
as $$
  select array[':traceparent', coalesce(p_job.traceparent, ''), ':tracestate', coalesce(p_job.tracestate, ''),
               ':queue', coalesce(p_job.queue, ''), ':lane', coalesce(p_job.lane, p_job.service, ''),
               ':service', coalesce(p_job.service, ''), ':operation', coalesce(p_job.operation, '')]
$$;
comment on function postrider_internal.trace_texts(postrider.jobs) is
  'names and values in turn of what the spans of a job need; empty values: none';
