-- SPDX-License-Identifier: Apache-2.0
-- A job that names its credential says where it goes; one that has it from its service may carry it to that service
-- only, however absolute its own URL is. A relative URL may be joined to any server that the service has in the
-- worker's environment, or to its base where it has none there: that is where pick_servers lets the call go.
create or replace function postrider_internal.can_carry_credential(
  p_credential postrider.credentials, p_job postrider.jobs, p_service postrider.services, p_url text,
  p_environment text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_relative boolean := postrider_internal.url_is_relative(p_url);
  v_own text[] := array(
    select postrider_internal.url_origin(t.base_url) from postrider_internal.server_routes t
     where t.service = p_service.name and t.environment = p_environment);
  v_targets text[];
begin
  v_targets := case when not v_is_relative then array[postrider_internal.url_origin(p_url)]
                    when v_own <> '{}' and not (p_job.use_cdn and p_service.cdn_url is not null) then v_own
                    else array[postrider_internal.url_origin(postrider_internal.job_url(p_url, p_job.use_cdn,
                        p_service))] end;
  if v_targets[1] is null then
    -- It leads nowhere: the job is refused after this.
    return true;
  end if;
  if p_credential.allowed_origins is not null then
    return coalesce(v_targets <@ array(select postrider_internal.url_origin(o)
                                       from unnest(p_credential.allowed_origins) o), false);
  end if;
  return v_is_relative or p_job.credential is not null
      or postrider_internal.origin_is_among(p_url, v_own || p_service.base_url || p_service.cdn_url);
end
$$;
comment on function postrider_internal.can_carry_credential(postrider.credentials, postrider.jobs, postrider.services,
                                                            text, text) is
  'whether a call to this URL, absolute or relative to the service, of a worker in this environment may carry the credential';
