-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function into claim. Jobs without headers and traceparent pay only for the checks.
create or replace function postrider_internal.claimed_headers(p_job postrider.jobs) returns text[]
language sql immutable parallel safe
as $$
  select case
    when p_job.traceparent is not null
      then postrider_internal.trace_texts(p_job) || postrider_internal.pairs(p_job.headers)
    when p_job.headers is not null then postrider_internal.pairs(p_job.headers) end
$$;
comment on function postrider_internal.claimed_headers(postrider.jobs) is
  'the headers of a job; with traceparent its trace_texts come first';
