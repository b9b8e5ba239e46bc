-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- p_etag, p_last_modified: the validators that the call carried. If the entry has others by now, another answer has
-- replaced it, and the 304 says nothing about it.
create or replace function postrider_internal.confirm_cache_entry(
  p_key bytea, p_etag text, p_last_modified text, p_job postrider.jobs, p_service postrider.services, p_headers bytea,
  p_app_version text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fresh interval;
begin
  if p_service.cache_mode = 'http' then
    select f.fresh into v_fresh from postrider_internal.http_freshness(p_headers, clock_timestamp()) f;
  end if;
  update postrider.cache_entries e
     set created_at = clock_timestamp(), last_used = clock_timestamp(), failed_at = null, headers = p_headers,
         fresh = v_fresh, etag = coalesce(postrider_internal.cache_tag(p_headers, 'etag'), e.etag),
         last_modified = coalesce(postrider_internal.cache_tag(p_headers, 'last-modified'), e.last_modified)
   where e.key = p_key and e.etag is not distinct from p_etag and e.last_modified is not distinct from p_last_modified
     and e.version = p_job.cache_version and e.sensitive is not distinct from p_job.cache_sensitive
     and e.app_version is not distinct from p_app_version;
  return v_fresh is null or v_fresh > interval '0';
end
$$;
comment on function postrider_internal.confirm_cache_entry(
  bytea, text, text, postrider.jobs, postrider.services, bytea, text) is
  'renews an entry that a 304 has confirmed; false if it may not serve other jobs';
