-- SPDX-License-Identifier: Apache-2.0
-- The planner inlines both functions, so it builds no row for them.
--
-- p_owner: credential_owner of the credential that the job uses. store_new_answers passes it, because it reads the
-- owner once for a batch.
create or replace function postrider_internal.cache_key(p_job postrider.jobs, p_service postrider.services,
                                                        p_owner text) returns bytea
language sql stable
as $$
  select case
    when p_job.download_to is null
     and (p_service.cache_mode is distinct from 'http' or p_job.method in ('GET', 'HEAD'))
    then postrider_internal.cache_digest(
      p_job.method,
      case when p_service.cache_mode = 'http' and num_nonnulls(p_job.query, p_service.query) > 0
        then postrider_internal.cache_url(
             p_job.url, p_job.query,
             case when postrider_internal.service_applies(p_job.url, p_service)
               then p_service.query end, p_service.cache_ignore)
           else p_job.url end,
      p_job.use_cdn, p_service.base_url, p_service.cdn_url,
      case when p_service.cache_mode = 'http' then null else p_job.query end,
      case when p_service.cache_mode = 'http' then null
           when postrider_internal.service_applies(p_job.url, p_service) then p_service.query end,
      p_job.headers,
      case when postrider_internal.service_applies(p_job.url, p_service)
        then p_service.headers end, p_job.body, p_job.body_json, p_job.body_form, p_job.body_parts,
      coalesce(p_service.cache_ignore, '{}'), case
        when postrider_internal.used_credential(p_job.credential, p_service.credential) is null
           then coalesce(nullif(p_service.cache_namespace, ''), E'\t' || p_service.name)
           else concat(coalesce(nullif(p_service.cache_namespace, ''), E'\t' || p_service.name), E'\n',
             p_owner) end)
  end
$$;
comment on function postrider_internal.cache_key(postrider.jobs, postrider.services, text) is
  'the cache key of a job; null: not cached, as for a download or a password in the URL';

create or replace function postrider_internal.cache_key(p_job postrider.jobs,
                                                        p_service postrider.services) returns bytea
language sql stable
as $$
  select postrider_internal.cache_key(p_job, p_service, postrider_internal.credential_owner(
    postrider_internal.used_credential(p_job.credential, p_service.credential)))
$$;
comment on function postrider_internal.cache_key(postrider.jobs, postrider.services) is
  'the cache key of a job for the user who is logged in now';
