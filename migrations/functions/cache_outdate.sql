-- SPDX-License-Identifier: Apache-2.0
-- RFC 9111 section 4.4. The variants of an answer are not looked for: without the row of their salt nobody finds them.
create or replace function postrider.cache_outdate(p_job postrider.jobs, p_service postrider.services) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys bytea[] := '{}';
begin
  p_job.body := null;
  p_job.body_json := null;
  p_job.body_form := null;
  p_job.body_parts := null;
  foreach p_job.method in array '{GET,HEAD}'::text[] loop
    v_keys := v_keys || postrider.cache_key(p_job, p_service);
  end loop;
  delete from postrider.cache_varies v where v.key = any (v_keys);
  perform postrider.cache_drop(v_keys, 'invalidated');
end
$$;
comment on function postrider.cache_outdate(postrider.jobs, postrider.services) is
  'private: http mode: after a POST, PUT, PATCH or DELETE that was not refused, what is cached of its URL goes';
