-- SPDX-License-Identifier: Apache-2.0
-- RFC 9111 section 4.4. Variants of an answer need no search, because without the row of their salt they are not found.
-- Location and Content-Location count only on the origin of the call.
--
-- This does not wait for an entry that an open transaction holds after cache_invalidate. It runs at the end of a call,
-- and a timeout would lose its whole batch. The leader removes the recorded keys (run_cache_duties); until then the
-- entry may serve.
create or replace function postrider_internal.invalidate_changed_url(p_job postrider.jobs, p_service postrider.services,
                                                                     p_headers bytea)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_own text := postrider_internal.job_url(p_job.url, p_job.use_cdn, p_service);
  v_origin text := substring(v_own from '^[A-Za-z]+://[^/?#]*');
  v_name text;
  v_url text;
  v_keys bytea[] := '{}';
begin
  p_job.body := null;
  p_job.body_json := null;
  p_job.body_form := null;
  p_job.body_parts := null;
  -- The empty name stands for the called URL.
  foreach v_name in array '{"",location,content-location}'::text[] loop
    if v_name <> '' then
      -- Relative to the folder of the called URL.
      v_url := postrider_internal.url_join(
        substring(v_own from '^[A-Za-z]+://[^/?#]*(?:/(?:[^?#]*/)?)?'),
        postrider_internal.header_value(p_headers, v_name));
      continue when v_url is null or lower(substring(v_url from '^[A-Za-z]+://[^/?#]*') collate "C") is distinct
        from lower(v_origin collate "C");
      p_job.url := v_origin || substr(v_url, length(v_origin) + 1);
      p_job.query := null;
    end if;
    foreach p_job.method in array '{GET,HEAD}'::text[] loop
      v_keys := v_keys || postrider_internal.cache_key(p_job, p_service);
    end loop;
  end loop;
  perform postrider_internal.delete_free_variants(v_keys);
  insert into postrider_internal.pending_invalidations (key)
  select k.key from unnest(v_keys) as k(key)
   where (exists (select from postrider.cache_entries e where e.key = k.key)
          or exists (select from postrider_internal.cache_varies v where v.key = k.key))
     and not exists (select from postrider_internal.pending_invalidations o where o.key = k.key);
end
$$;
comment on function postrider_internal.invalidate_changed_url(postrider.jobs, postrider.services, bytea) is
  'http mode: after a successful POST, PUT, PATCH or DELETE, removes cached answers of its URL and the URLs it names';
