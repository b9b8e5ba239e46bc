-- SPDX-License-Identifier: Apache-2.0
-- after: insert/is_small_body.sql, insert/is_valid_with_operation.sql
-- PostgreSQL inlines this function into queue_new_jobs. The first row is valid, so a row that differs from it only in
-- URL, body, tag and metadata needs only the checks of these columns. p_pattern is the url_pattern of the first row.
--
-- With an operation, the checks of rows with an operation are enough, and the lane is the service.
create or replace function postrider_internal.is_like_first(p_job postrider.jobs, p_first postrider.jobs,
                                                            p_pattern text) returns boolean
language sql stable parallel safe
as $$
  select case when p_first.operation is null then coalesce(
    (p_job.url = p_first.url or p_job.url like p_pattern and postrider_internal.is_plain_url(p_job.url))
    and p_job.kind = p_first.kind and p_job.method = p_first.method and p_job.queue = p_first.queue
    and p_job.priority = p_first.priority and p_job.max_attempts = p_first.max_attempts
    and p_job.delivery = p_first.delivery
    and (p_job.run_at = p_first.run_at or isfinite(p_job.run_at) and p_job.run_at <= now())
    and p_job.response_format = p_first.response_format and p_job.result_type = p_first.result_type
    and p_job.on_duplicate = p_first.on_duplicate and p_job.mode = p_first.mode
    and p_job.cache_version = p_first.cache_version
    and not (p_job.use_cdn or p_job.login_required or p_job.ignore_cache or p_job.notify)
    and isfinite(p_job.created_at) and p_job.created_by is not null
    and num_nonnulls(p_job.body, p_job.body_json) <= (p_job.method <> 'HEAD')::int
    and coalesce(octet_length(p_job.body), 0) <= 65536
    and (p_job.body_json is null or postrider_internal.is_small_json(p_job.body_json))
    and (p_job.metadata is null or postrider_internal.is_storable_json(p_job.metadata))
    and postrider_internal.is_tag(p_job.tag) is not false
    and postrider_internal.has_basic_columns(p_job), false)
  else coalesce(
    p_job.operation = p_first.operation and p_job.service = p_first.service and p_job.queue = p_first.queue
    and p_job.priority = p_first.priority and p_job.max_attempts = p_first.max_attempts
    and p_job.delivery = p_first.delivery and p_job.run_at <= now()
    and num_nonnulls(p_job.lane, p_job.parent_id, p_job.expires_at, p_job.on_success, p_job.on_failure,
                     p_job.callback_url) = 0
    and not p_job.notify and postrider_internal.is_valid_with_operation(p_job)
    and postrider_internal.is_small_body(p_job), false) end
$$;
comment on function postrider_internal.is_like_first(postrider.jobs, postrider.jobs, text) is
  'whether a job is valid, due and in the track of the first job of its INSERT, by comparison with that job';
