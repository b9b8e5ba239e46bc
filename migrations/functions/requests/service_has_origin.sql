-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.service_has_origin(p_service text, p_base text, p_cdn text,
                                                                 p_url text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.origin_is_among(p_url, array[p_base, p_cdn] || array(
    select t.base_url from postrider_internal.server_routes t where t.service = p_service))
$$;
comment on function postrider_internal.service_has_origin(text, text, text, text) is
  'whether a URL has the origin, or its https form, of the base URL, CDN or a server of a service in any environment';
