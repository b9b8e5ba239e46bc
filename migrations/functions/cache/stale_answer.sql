-- SPDX-License-Identifier: Apache-2.0
-- A job with ignore_cache reads nothing from the cache, even if the server fails. In http mode a request may ask for a
-- revalidated answer (RFC 9111 section 5.2.1.4). It then gets no stale one.
create or replace function postrider_internal.stale_answer(
  p_call postrider_internal.cache_flights, p_job postrider.jobs, p_service postrider.services, p_app_version text,
  p_code text, p_status int, out status smallint, out headers bytea, out body bytea, out encoding text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select e.status, e.headers, e.body, e.encoding
    from postrider.cache_entries e
   where e.key = p_call.key and p_service.stale_if_error > interval '0' and not e.is_strict
     and not p_job.ignore_cache
     and not (p_service.cache_mode = 'http'
              and coalesce(postrider_internal.wants_fresh((postrider_internal.filled_job(p_job)).headers), false))
     and (p_code = 'http_status' and (p_status in (500, 502, 503, 504)
            -- The job accepts the status, but the outcome is http_status: HTML that counts as a 502.
            or p_service.html_is_502 and postrider_internal.is_fit_cache_entry(p_status, null, true, p_job.ok_statuses,
                null, 'raw'))
          or exists (select from postrider.error_codes c where c.code = p_code and c.class = 'network' and c.retryable))
     and postrider_internal.cache_reason(
           e, clock_timestamp(),
           case when p_service.cache_mode = 'http' then least(p_job.cache_ttl, coalesce(e.fresh, interval '0'))
             else p_job.cache_ttl end
             + p_service.stale_if_error,
           p_job.cache_version, p_job.cache_sensitive, p_app_version) = 'hit'
     and postrider_internal.is_fit_cache_entry(
           e.status::int, octet_length(e.body), e.is_xml, p_job.ok_statuses,
           coalesce(p_job.max_response, p_service.max_response),
           p_job.response_format)
$$;
comment on function postrider_internal.stale_answer(
  postrider_internal.cache_flights, postrider.jobs, postrider.services, text, text, int) is
  'the cached answer that serves while the server fails (stale_if_error); nulls: no such answer';
