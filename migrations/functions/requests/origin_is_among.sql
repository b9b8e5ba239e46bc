-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_is_upgrade.sql, requests/url_origin.sql
-- The https form of an http origin counts too. Redirects and links to further pages lead there, and the arguments of
-- the service must be recognized in those links.
create or replace function postrider_internal.origin_is_among(p_url text, p_own text[]) returns boolean
language sql immutable parallel safe
begin atomic
  select exists (
    select from unnest(p_own) as o (url)
     where postrider_internal.url_origin(o.url) = postrider_internal.url_origin(p_url)
       or postrider_internal.url_is_upgrade(o.url, p_url));
end;
comment on function postrider_internal.origin_is_among(text, text[]) is
  'whether an absolute URL has the origin of one of these URLs, or its https form';
