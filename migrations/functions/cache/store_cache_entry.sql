-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- One entry for each key: a newer answer replaces the older one of any version or sensitive value.
--
-- Not stored: answers for which forbids_caching is true, and answers that the server forbids to store in http mode. An
-- answer that would fill a quarter of the cache alone is not stored either.
--
-- p_key: the key computed before the call (cache_key), not the key that the job has by now.
create or replace function postrider_internal.store_cache_entry(
  p_key bytea, p_job postrider.jobs, p_service postrider.services, p_status int, p_headers bytea, p_body bytea,
  p_encoding text,
  p_app_version text, p_redirected boolean) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := p_key;
  v_names text[];
  v_is_http boolean := coalesce(p_service.cache_mode = 'http', false);
  v_is_storable boolean;
  v_vary text[];
  v_body bytea := coalesce(p_body, '');
  v_headers bytea := coalesce(p_headers, '');
  v_entry postrider.cache_entries;
  v_old record;
  v_now timestamptz := clock_timestamp();
begin
  if not postrider_internal.service_applies(p_job.url, p_service) then
    p_service.headers := null;
  end if;
  v_entry.url := postrider_internal.url_without_login(postrider_internal.job_url(p_job.url, p_job.use_cdn, p_service));
  v_entry.bytes := postrider_internal.cache_entry_bytes(v_entry.url, v_headers, v_body);
  if v_key is null or postrider_internal.forbids_caching(p_status, v_headers)
     or v_entry.bytes > (select t.cache_max_bytes / 4 from postrider.settings t) then
    return false;
  end if;
  -- Validators belong to the URL that sent them. A URL that redirects may lead elsewhere next time.
  if not p_redirected then
    v_entry.etag := postrider_internal.cache_tag(v_headers, 'etag');
    v_entry.last_modified := postrider_internal.cache_tag(v_headers, 'last-modified');
  end if;
  if v_is_http then
    select f.is_storable, f.fresh, f.is_strict, f.vary into v_is_storable, v_entry.fresh, v_entry.is_strict, v_vary
      from postrider_internal.http_freshness(v_headers, v_now) f;
    -- A cookie jar is not part of the key, so the key does not distinguish answers that vary with cookies.
    if not v_is_storable or 'cookie' = any (v_vary) and p_service.cookies
       or postrider_internal.forbids_store(p_job.headers) or postrider_internal.forbids_store(p_service.headers)
       or v_entry.fresh = interval '0' and v_entry.etag is null and v_entry.last_modified is null then
      return false;
    end if;
    -- Not locked. If another session replaces the names at this moment, this stores a variant that no job finds, and
    -- eviction removes it.
    select v.names into v_names from postrider_internal.cache_varies v where v.key = v_key;
    if v_vary = '{}' then
      if v_names is not null then
        delete from postrider_internal.cache_varies v where v.key = v_key;
      end if;
    else
      if v_names is distinct from v_vary then
        insert into postrider_internal.cache_varies as v (key, salt, names)
        values (v_key, uuid_send(gen_random_uuid()), v_vary)
            on conflict (key) do update set names = excluded.names, salt = excluded.salt, stored_at = now()
         where v.names <> excluded.names;
      else
        update postrider_internal.cache_varies v set stored_at = now()
         where v.ctid = (
                 select x.ctid from postrider_internal.cache_varies x
                  where x.key = v_key and x.stored_at < now() - interval '1 h' for no key update skip locked);
      end if;
      v_key := postrider_internal.cache_variant(v_key, p_job.headers, p_service.headers);
    end if;
  end if;
  -- Tries again if another session deletes the entry between the INSERT and the lock.
  for i in 1 .. 100 loop
    insert into postrider.cache_entries (
      key, created_at, last_used, version, bytes, status, is_strict, is_xml, sensitive, app_version, service, namespace,
      method,
      url, encoding, ttl, fresh, etag, last_modified, headers, sha256, body)
    values (v_key, v_now, v_now, p_job.cache_version, v_entry.bytes, p_status, coalesce(v_entry.is_strict, false),
      p_job.response_format = 'xml', p_job.cache_sensitive, p_app_version, coalesce(p_job.service, ''),
      coalesce(p_service.cache_namespace, ''),
      p_job.method, v_entry.url, p_encoding, p_job.cache_ttl, v_entry.fresh, v_entry.etag, v_entry.last_modified,
      v_headers, sha256(v_body), v_body)
        on conflict (key) do nothing;
    if found then
      insert into postrider_internal.cache_deltas (service, outcome, jobs, entries, bytes)
      values (coalesce(p_job.service, ''), 'stored', 1, 1, v_entry.bytes);
      exit;
    end if;
    select e.service, e.bytes into v_old from postrider.cache_entries e where e.key = v_key for no key update;
    continue when not found;
    update postrider.cache_entries e
       set created_at = v_now, last_used = v_now, failed_at = null, version = p_job.cache_version,
         bytes = v_entry.bytes,
           status = p_status, is_strict = coalesce(v_entry.is_strict, false), is_xml = p_job.response_format = 'xml',
           sensitive = p_job.cache_sensitive,
           app_version = p_app_version, service = coalesce(p_job.service, ''),
           namespace = coalesce(p_service.cache_namespace, ''), method = p_job.method, url = v_entry.url,
           encoding = p_encoding, ttl = p_job.cache_ttl, fresh = v_entry.fresh, etag = v_entry.etag,
           last_modified = v_entry.last_modified, headers = v_headers, sha256 = sha256(v_body), body = v_body
     where e.key = v_key;
    insert into postrider_internal.cache_deltas (service, outcome, jobs, entries, bytes)
    values (v_old.service, 'stored', 0, -1, -v_old.bytes), (coalesce(p_job.service, ''), 'stored', 1, 1, v_entry.bytes);
    exit;
  end loop;
  return true;
end
$$;
comment on function postrider_internal.store_cache_entry(bytea, postrider.jobs, postrider.services, int, bytea, bytea,
                                                         text, text, boolean) is
  'stores the answer of a job for other jobs; false if it must not be stored';
