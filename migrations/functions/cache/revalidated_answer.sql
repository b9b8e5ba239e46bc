-- SPDX-License-Identifier: Apache-2.0
-- The entry may have been replaced since the call began. The new answer may have the same validators, but another
-- version, another user, or a status that this job does not accept.
create or replace function postrider_internal.revalidated_answer(
  p_call postrider_internal.cache_flights, p_job postrider.jobs, p_app_version text, p_new_headers bytea,
  out status smallint, out headers bytea, out body bytea)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select e.status, postrider_internal.cache_merge(e.headers, p_new_headers), e.body
    from postrider.cache_entries e
   where e.key = p_call.key and e.etag is not distinct from p_call.etag
     and e.last_modified is not distinct from p_call.last_modified
     and e.version = p_job.cache_version and e.sensitive is not distinct from p_job.cache_sensitive
     and e.app_version is not distinct from p_app_version and e.sha256 = sha256(e.body)
     and postrider_internal.is_fit_cache_entry(e.status::int, octet_length(e.body), e.is_xml, p_job.ok_statuses,
                                               coalesce(
           p_job.max_response, (select s.max_response from postrider.services s where s.name = p_job.service)),
           p_job.response_format)
$$;
comment on function postrider_internal.revalidated_answer(postrider_internal.cache_flights, postrider.jobs, text,
                                                          bytea) is
  'the cached answer that a 304 confirms; nulls if the entry is gone';
