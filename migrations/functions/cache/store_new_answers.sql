-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Most answers make a new entry. One statement stores them, which saves 11 % of PostgreSQL's time for a job with
-- everything (bench `rich`). A subtransaction for each answer cost this much.
--
-- It leaves out:
-- - answers of http mode and of services with servers
-- - answers of members of batches and chains
-- - answers that may not be cached
-- - answers whose key has an entry
--
-- Of two answers for one key it stores the first.
--
-- Entries are locked by key.
create or replace function postrider_internal.store_new_answers(
  p_calls postrider_internal.cache_flights[], p_attempts postrider_internal.finished_attempt[], p_done bigint[],
  p_app_version text) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs bigint[];
  v_owners jsonb := (
    select jsonb_object_agg(d.credential, postrider_internal.credential_owner(d.credential))
      from (select distinct x.credential from unnest(p_attempts) x where x.credential is not null offset 0) d);
begin
  with offered as materialized (
    select distinct on (c.key) c.key, c.job_id, coalesce(j.service, '') as service,
           coalesce(s.cache_namespace, '') as namespace, j.method,
           postrider_internal.url_without_login(postrider_internal.job_url(j.url, j.use_cdn, s)) as url,
           j.cache_version, j.cache_sensitive, j.cache_ttl, j.response_format = 'xml' as is_xml, x.status, x.encoding,
           coalesce(x.redirected, false) as redirected, coalesce(x.headers, '') as headers,
           coalesce(x.body, '') as body
      from unnest(p_calls) c
      join unnest(p_attempts) x on x.job_id = c.job_id
      join postrider.jobs j on j.id = any (array[c.job_id])
      left join postrider.services s on s.name = j.service
     where x.seq = any (p_done) and x.verdict = 's' and x.cache not in ('stale', 'revalidated')
       and j.parent_id is null and s.cache_mode is distinct from 'http' and s.has_servers is not true
       and x.credential is not distinct from postrider_internal.used_credential(j.credential, s.credential)
       and c.key = postrider_internal.cache_key(j, s, v_owners ->> x.credential) and c.base = c.key
       and not postrider_internal.has_own_rule(c.job_id, c.fence)
     order by c.key, c.job_id),
  stored as (
    insert into postrider.cache_entries as e (
      key, created_at, last_used, version, bytes, status, is_xml, sensitive, app_version, service, namespace, method,
      url, encoding, ttl, etag, last_modified, headers, sha256, body)
    select o.key, t.at, t.at, o.cache_version, t.bytes, o.status, o.is_xml, o.cache_sensitive, p_app_version,
           o.service, o.namespace, o.method, o.url, o.encoding, o.cache_ttl,
           case when not o.redirected then postrider_internal.cache_tag(o.headers, 'etag') end,
           case when not o.redirected then postrider_internal.cache_tag(o.headers, 'last-modified') end,
           o.headers, sha256(o.body), o.body
      from offered o
     cross join lateral (
           select clock_timestamp() as at, postrider_internal.cache_entry_bytes(o.url, o.headers, o.body) as bytes) t
     where not postrider_internal.forbids_caching(o.status, o.headers)
       and t.bytes <= (select s.cache_max_bytes / 4 from postrider.settings s)
     order by o.key
        on conflict (key) do nothing
    returning e.key, e.service, e.bytes),
  counted as (
    insert into postrider_internal.cache_deltas (service, outcome, jobs, entries, bytes)
    select s.service, 'stored', count(*), count(*), sum(s.bytes) from stored s group by 1)
  select array_agg(o.job_id) into v_jobs from offered o join stored s on s.key = o.key;
  return coalesce(v_jobs, '{}');
end
$$;
comment on function postrider_internal.store_new_answers(
  postrider_internal.cache_flights[], postrider_internal.finished_attempt[], bigint[], text) is
  'stores the answers of calls that make a new cache entry; returns their jobs';
