-- SPDX-License-Identifier: Apache-2.0
-- The https form of an http origin counts: redirects and links to further pages lead there, and the service's arguments have to be
-- recognised in those links.
create or replace function postrider.service_has_origin(p_service text, p_base text, p_cdn text, p_url text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(postrider.url_origin(p_url) in (postrider.url_origin(p_base), postrider.url_origin(p_cdn)), false)
      or coalesce(postrider.url_is_upgrade(p_base, p_url), false) or coalesce(postrider.url_is_upgrade(p_cdn, p_url), false)
      or exists (
         select from postrider.server_routes t
          where t.service = p_service
            and (postrider.url_origin(t.base_url) = postrider.url_origin(p_url) or postrider.url_is_upgrade(t.base_url, p_url)))
$$;
comment on function postrider.service_has_origin(text, text, text, text) is
  'private: whether an absolute URL has the origin of the base URL, of the CDN or of a server of a service, in whatever environment, or leads from there to https';
