-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.common_defect(
  p_job postrider.jobs, out column_name text, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select d.c, 'must not be null', 'Leave it out for its default.' into column_name, reason, hint from (values
    (p_job.kind is null, 'kind'), (p_job.queue is null, 'queue'), (p_job.priority is null, 'priority'),
    (p_job.run_at is null, 'run_at'), (p_job.max_attempts is null, 'max_attempts'),
    (p_job.delivery is null, 'delivery'), (p_job.on_duplicate is null, 'on_duplicate'),
    (p_job.method is null, 'method'), (p_job.use_cdn is null, 'use_cdn'),
    (p_job.login_required is null, 'login_required'), (p_job.response_format is null, 'response_format'),
    (p_job.result_type is null, 'result_type'), (p_job.cache_version is null, 'cache_version'),
    (p_job.ignore_cache is null, 'ignore_cache'), (p_job.mode is null, 'mode'), (p_job.notify is null, 'notify'),
    (p_job.created_at is null, 'created_at'), (p_job.created_by is null, 'created_by')
  ) as d(bad, c)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;

  select d.c, d.r, d.h into column_name, reason, hint from (values
    (p_job.operation is null and num_nonnulls(p_job.arguments, p_job.argument_types) > 0,
     'arguments', 'are for jobs with an operation', 'Name the operation, or leave them out.'),
    (p_job.operation is null and num_nonnulls(p_job.operation_revision, p_job.operation_rules) > 0,
     'operation_revision', 'is set by Postrider, like operation_rules', 'Leave both out, and name an operation.'),
    (p_job.kind not in ('request', 'batch', 'chain'),
     'kind', 'must be request, batch or chain', 'A single call is a request, the default.'),
    (p_job.position not between 0 and 1000000000,
     'position', format('%s is out of range', p_job.position),
     'Give 0 or more, or leave it out for the next free one.'),
    (p_job.run_if is not null and p_job.parent_id is null,
     'run_if', 'is for steps of a chain', 'Leave it out, or give parent_id.'),
    (p_job.position is not null and p_job.parent_id is null,
     'position', 'is for members of a batch or chain', 'Leave it out, or give parent_id.'),
    (p_job.name = '' or length(p_job.name) > 200,
     'name', 'must have 1 to 200 characters', 'Templates refer to a job by this name.'),
    (p_job.queue = '' or length(p_job.queue) > 200,
     'queue', 'must have 1 to 200 characters', 'Leave it out for the queue default.'),
    (p_job.lane = '' or length(p_job.lane) > 300,
     'lane', 'must have 1 to 300 characters',
     'Leave it out to use the name of the service, or without a service the host:port of the URL.'),
    (not postrider_internal.is_priority(p_job.priority),
     'priority', format('%s is out of range', p_job.priority), 'Give -100 to 100; low is -4, normal 0, high 4.'),
    (not isfinite(p_job.created_at),
     'created_at', 'must be a point in time', 'Leave it out for now.'),
    (not isfinite(p_job.run_at),
     'run_at', 'must be a point in time', 'Leave it out to run at once.'),
    -- A deadline that has just passed is valid: the job ends as expired. No transaction or clock difference explains
    -- more than an hour.
    (p_job.expires_at < now() - interval '1 hour' and p_job.parent_id is null,
     'expires_at', 'is more than an hour in the past',
     'Give a later time, or leave it out; check the time zone of the value.'),
    (p_job.expires_at <= p_job.run_at and p_job.run_at > now(),
     'expires_at', 'is not after run_at', 'Give a later time, or leave it out.'),
    (extract(epoch from p_job.timeout) <= 0 or extract(epoch from p_job.timeout) > 86400,
     'timeout', format('%s is not a usable limit', p_job.timeout),
     'Give more than 0 and at most 1 day, like ''30 s''.'),
    (p_job.max_attempts not between 1 and 1000,
     'max_attempts', format('%s is out of range', p_job.max_attempts), 'Give 1 (no retry) to 1000.'),
    (cardinality(p_job.backoff) not between 1 and 100 or array_ndims(p_job.backoff) > 1
       or exists (select from unnest(p_job.backoff) b where b is null or b < interval '0' or b > interval '30 days'),
     'backoff', 'must hold 1 to 100 waits between 0 and 30 days',
     'Like array[''5 s'', ''1 min'', ''10 min'']::interval[].'),
    (not postrider_internal.is_tag(p_job.tag),
     'tag', format('has %s characters', length(p_job.tag)), 'At most 400 are allowed; put longer values into metadata.'),
    (not postrider_internal.is_traceparent(p_job.traceparent),
     'traceparent', 'is not a traceparent of W3C Trace Context',
     'Write it in lower case, like 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.'),
    (p_job.tracestate is not null and p_job.traceparent is null,
     'tracestate', 'is given without traceparent', 'Give traceparent too, or leave it out.'),
    (not postrider_internal.is_tracestate(p_job.tracestate),
     'tracestate', 'is not a tracestate of W3C Trace Context',
     'Write at most 32 members with commas between them, like vendor=value,other=1.'),
    (p_job.metadata is not null and not postrider_internal.is_storable_json(p_job.metadata),
     'metadata', 'is longer than 64 MiB as text', 'Keep large data in a table of your own.'),
    (p_job.delivery not in ('at_least_once', 'at_most_once'),
     'delivery', 'must be at_least_once or at_most_once', 'at_most_once is for calls that must never be repeated.'),
    (length(p_job.dedupe_key) not between 1 and 1000,
     'dedupe_key', 'must have 1 to 1000 characters', 'Leave it out, or give a hash of it.'),
    (p_job.on_duplicate not in ('error', 'skip'),
     'on_duplicate', 'must be error or skip', 'Leave it out for error.'),
    (upper(p_job.method collate "C") not in ('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
     'method', 'is not a method that can be sent',
     'Give GET, POST, HEAD, PUT, DELETE, PATCH or OPTIONS.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
end
$$;
comment on function postrider_internal.common_defect(postrider.jobs) is
  'the first broken rule among those that hold for every kind of job; nulls: none';
