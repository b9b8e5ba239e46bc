-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.filled_key(p_job postrider.jobs, p_service postrider.services) returns bytea
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return postrider.cache_key(postrider.filled_job(p_job), p_service);
end
$$;
comment on function postrider.filled_key(postrider.jobs, postrider.services) is
  'private: the cache key of a member, with its templates filled';
