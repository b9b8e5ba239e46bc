-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.variant_key(p_key bytea, p_job postrider.jobs,
                                                          p_service postrider.services) returns bytea
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_job := postrider_internal.filled_job(p_job);
  return postrider_internal.cache_variant(p_key, p_job.headers,
    case when postrider_internal.service_applies(p_job.url, p_service) then p_service.headers end);
end
$$;
comment on function postrider_internal.variant_key(bytea, postrider.jobs, postrider.services) is
  'http mode: the key of the variant that a job asks for, with templates filled; without variants the key itself';
