-- SPDX-License-Identifier: Apache-2.0
-- after: requests/masked_json.sql, requests/service_applies.sql
-- p_url: the URL of the job. A call to another origin gets no headers, query and cookies. p_is_shown: the caller may
-- read services. Otherwise all values that the service adds are masked, and its ways into the network are left out.
create or replace function postrider_internal.masked_service(
  p_service postrider.services, p_url text, p_is_shown boolean, p_mask text) returns postrider.services
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_service.name is null or not postrider_internal.service_applies(p_url, p_service) then
    p_service.headers := null;
    p_service.query := null;
    p_service.cookies := false;
  end if;
  p_service.headers := postrider_internal.masked_json(p_service.headers, p_mask, null, not p_is_shown);
  p_service.query := postrider_internal.masked_json(p_service.query, p_mask, null, not p_is_shown);
  p_service.base_url := postrider_internal.url_with_masked_login(p_service.base_url, p_mask);
  p_service.cdn_url := postrider_internal.url_with_masked_login(p_service.cdn_url, p_mask);
  p_service.proxy := case when p_is_shown then postrider_internal.url_with_masked_login(p_service.proxy, p_mask) end;
  if not p_is_shown then
    p_service.interface := null;
    p_service.tls := null;
  end if;
  return p_service;
end
$$;
comment on function postrider_internal.masked_service(postrider.services, text, boolean, text) is
  'the row of a service as it applies to a call to p_url, with p_mask for its secrets';
