-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function. It uses one num_nonnulls, because an INSERT of a single row pays for each operator
-- and function named here.
create or replace function postrider_internal.has_basic_columns(p_job postrider.jobs) returns boolean
language sql immutable parallel safe
as $$
  select num_nonnulls(
           p_job.parent_id, p_job.position, p_job.name, p_job.lane, p_job.expires_at, p_job.timeout, p_job.backoff,
           p_job.dedupe_key, p_job.service, p_job.query, p_job.headers, p_job.body_form, p_job.body_parts,
           p_job.credential, p_job.ok_statuses, p_job.validator, p_job.extract, p_job.max_response,
           p_job.download_to, p_job.sha256, p_job.cache_ttl, p_job.cache_sensitive, p_job.paginate, p_job.run_if,
           p_job.max_parallel, p_job.each, p_job.on_success, p_job.on_failure, p_job.callback_url,
           p_job.decode, p_job.use_envelope, p_job.require_data, p_job.max_redirects, p_job.operation, p_job.arguments,
           p_job.rules, p_job.operation_revision, p_job.operation_rules, p_job.argument_types, p_job.traceparent,
           p_job.tracestate) = 0
$$;
comment on function postrider_internal.has_basic_columns(postrider.jobs) is
  'whether a job leaves all columns for special features null';
