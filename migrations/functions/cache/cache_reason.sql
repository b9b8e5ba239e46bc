-- SPDX-License-Identifier: Apache-2.0
-- If several reasons apply, it returns the first of them in the order below. Written so that the planner inlines it: no
-- query, no set, and stable, because the sum of a time and an interval is stable. Without inlining it takes 20 µs a
-- job.
create or replace function postrider_internal.cache_reason(
  p_entry postrider.cache_entries, p_now timestamptz, p_ttl interval, p_version bigint, p_sensitive text,
  p_app_version text)
returns text
language sql stable parallel safe
as $$
  select case
    when p_entry.key is null then 'miss'
    when num_nulls(p_entry.created_at, p_entry.status, p_entry.ttl, p_entry.headers, p_entry.sha256) > 0
      or not isfinite(p_entry.created_at) or p_entry.status not between 100 and 599 then 'cache_metadata'
    when p_now < p_entry.created_at or p_now > p_entry.created_at + p_ttl then 'cache_expired'
    when p_entry.version <> p_version then 'cache_version'
    when p_entry.sensitive is distinct from p_sensitive then 'cache_sensitive'
    when p_entry.app_version is distinct from p_app_version then 'cache_app_version'
    when p_entry.body is null or p_entry.sha256 <> sha256(p_entry.body) then 'cache_data'
    else 'hit'
  end
$$;
comment on function postrider_internal.cache_reason(postrider.cache_entries, timestamptz, interval, bigint, text,
                                                    text) is
  'hit, or the reason why an entry does not serve a job';
