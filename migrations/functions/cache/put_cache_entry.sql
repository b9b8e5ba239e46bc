-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.put_cache_entry(p_spec jsonb, p_type text, p_encoding text, p_body bytea,
                                                              p_app_version text)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job postrider.jobs := postrider_internal.cache_spec(p_spec);
  v_service postrider.services;
begin
  if p_body is null then
    raise exception using errcode = 'PR006', message = 'body: must not be null',
      hint = 'Give the answer to store.';
  end if;
  if v_job.method = 'HEAD' or v_job.download_to is not null then
    raise exception using errcode = 'PR006', message = case when v_job.method = 'HEAD'
      then '$.method: an answer to HEAD has no body'
      else '$.download_to: an answer that goes to a file is not cached' end,
      hint = 'Describe the job that should receive this body.';
  end if;
  -- No worker has checked the body as XML, even if the job asks for XML.
  v_job.response_format := 'raw';
  select * into v_service from postrider.services s where s.name = v_job.service;
  v_service := postrider_internal.keyed_service(v_service, null);
  return postrider_internal.store_cache_entry(
    postrider_internal.cache_key(v_job, v_service), v_job, v_service,
    case when v_job.ok_statuses is null or v_job.ok_statuses @> 200 then 200 else lower(v_job.ok_statuses) end,
    convert_to(concat(
      'content-type: ', p_type, E'\n',
      case when v_service.cache_mode = 'http' then format(E'cache-control: max-age=%s\n',
        least(extract(epoch from v_job.cache_ttl), 2147483647)::bigint) end), 'UTF8'),
    p_body, p_encoding, p_app_version, false);
end
$$;
comment on function postrider_internal.put_cache_entry(jsonb, text, text, bytea, text) is
  'the common part of the three forms of cache_put';
