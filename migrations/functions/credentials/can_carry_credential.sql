-- SPDX-License-Identifier: Apache-2.0
-- If a job names its credential, the job decides where it goes. If the credential comes from the service, the job may
-- carry it only to that service, even if its own URL is absolute. A relative URL may be joined to any server of the
-- service in the worker's environment, or to base_url if there is no such server. pick_servers sends the call there.
create or replace function postrider_internal.can_carry_credential(
  p_credential postrider.credentials, p_job postrider.jobs, p_service postrider.services, p_url text,
  p_environment text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_relative boolean := postrider_internal.url_is_relative(p_url);
  v_own text[];
  v_targets text[];
begin
  if p_credential.allowed_origins is null and (v_is_relative or p_job.credential is not null) then
    return true;
  end if;
  v_own := array(
    select postrider_internal.url_origin(t.base_url) from postrider_internal.server_routes t
     where t.service = p_service.name and t.environment = p_environment);
  v_targets := case when not v_is_relative then array[postrider_internal.url_origin(p_url)]
                    when v_own <> '{}' and not (p_job.use_cdn and p_service.cdn_url is not null) then v_own
                    else array[postrider_internal.url_origin(postrider_internal.job_url(p_url, p_job.use_cdn,
                        p_service))] end;
  if v_targets[1] is null then
    -- The URL has no target. A later check refuses the job.
    return true;
  end if;
  if p_credential.allowed_origins is not null then
    return coalesce(v_targets <@ array(select postrider_internal.url_origin(o)
                                       from unnest(p_credential.allowed_origins) o), false);
  end if;
  return postrider_internal.origin_is_among(p_url, v_own || p_service.base_url || p_service.cdn_url);
end
$$;
comment on function postrider_internal.can_carry_credential(postrider.credentials, postrider.jobs, postrider.services,
                                                            text, text) is
  'whether a call to this URL may carry the credential; a relative URL goes to the service in this environment';
