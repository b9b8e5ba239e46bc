-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.filled_key(p_job postrider.jobs,
                                                         p_service postrider.services) returns bytea
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return postrider_internal.cache_key(postrider_internal.filled_job(p_job), p_service);
end
$$;
comment on function postrider_internal.filled_key(postrider.jobs, postrider.services) is
  'the cache key of a member after its templates are filled';
