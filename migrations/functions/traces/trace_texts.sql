-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function into claim, which returns these texts in front of the headers. Another column would
-- cost each job 1 µs. The names begin with a colon, and no name of a header can.
create or replace function postrider_internal.trace_texts(p_job postrider.jobs) returns text[]
language sql immutable parallel safe
as $$
  select array[':traceparent', coalesce(p_job.traceparent, ''), ':tracestate', coalesce(p_job.tracestate, ''),
               ':queue', coalesce(p_job.queue, ''), ':lane', coalesce(p_job.lane, p_job.service, ''),
               ':service', coalesce(p_job.service, ''), ':operation', coalesce(p_job.operation, '')]
$$;
comment on function postrider_internal.trace_texts(postrider.jobs) is
  'names and values in turn of what the spans of a job need; empty values: none';
