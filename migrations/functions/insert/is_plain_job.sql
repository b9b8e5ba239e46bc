-- SPDX-License-Identifier: Apache-2.0
-- after: insert/is_storable_json.sql, insert/is_small_json.sql
-- Checks every column except the URL, which is_plain_url and is_plain_host check. Written so that the planner inlines
-- it (SQL, not volatile, no strict, no set). An INSERT of a single row pays for each operator and function named here.
-- PostgreSQL builds their state anew in each statement: 0.2 µs, and some microseconds in a session that has been idle.
create or replace function postrider_internal.is_plain_job(p_job postrider.jobs) returns boolean
language sql stable parallel safe
as $$
  select p_job.kind = 'request' and postrider_internal.has_basic_columns(p_job)
     and p_job.method in ('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS')
     and postrider_internal.is_priority(p_job.priority)
     and p_job.max_attempts between 1 and 1000
     and isfinite(p_job.run_at)
     and p_job.delivery in ('at_least_once', 'at_most_once')
     and length(p_job.queue) between 1 and 200
     and (p_job.response_format = 'raw' or p_job.response_format in ('json', 'xml') and p_job.method <> 'HEAD')
     and p_job.result_type = 'any' and p_job.on_duplicate = 'error'
     and p_job.mode = 'all' and p_job.cache_version = 0
     and not (p_job.use_cdn or p_job.login_required or p_job.ignore_cache or p_job.notify)
     and isfinite(p_job.created_at) and p_job.created_by is not null
     and num_nonnulls(p_job.body, p_job.body_json) <= (p_job.method <> 'HEAD')::int
     and postrider_internal.is_tag(p_job.tag) is not false
     and coalesce(octet_length(p_job.body), 0) <= 65536
     and (p_job.body_json is null or postrider_internal.is_small_json(p_job.body_json))
     and (p_job.metadata is null or postrider_internal.is_storable_json(p_job.metadata))
$$;
comment on function postrider_internal.is_plain_job(postrider.jobs) is
  'whether a job, apart from its URL, is valid by quick checks; if false, job_defect decides';
