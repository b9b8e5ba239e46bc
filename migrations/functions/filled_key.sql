-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.filled_key(p_job postrider.jobs, p_service postrider.services) returns bytea
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_job := postrider.filled(p_job);
  if p_service.cache_mode = 'http' then
    return postrider.cache_variant(postrider.cache_key(p_job, p_service), p_job.headers,
      case when postrider.service_applies(p_job.url, p_service.apply_to_absolute) then p_service.headers end);
  end if;
  return postrider.cache_key(p_job, p_service);
end
$$;
comment on function postrider.filled_key(postrider.jobs, postrider.services) is
  'private: the cache key of a member, of its variant in http mode, with its templates filled';
