-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.member_defaults(p_job postrider.jobs) returns jsonb
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'queue', nullif(p_job.queue, 'default'), 'priority', nullif(p_job.priority, 0), 'timeout', p_job.timeout,
    'service', p_job.service, 'credential', case when p_job.service is not null then p_job.credential end,
    'traceparent', p_job.traceparent, 'tracestate', p_job.tracestate))
$$;
comment on function postrider_internal.member_defaults(postrider.jobs) is
  'the values that members of a batch or chain inherit unless they set them, with the keys of a spec';
