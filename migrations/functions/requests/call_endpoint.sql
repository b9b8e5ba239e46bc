-- SPDX-License-Identifier: Apache-2.0
-- /users/7/posts and /users/8/posts are one endpoint: GET api /users/*/posts.
create or replace function postrider_internal.call_endpoint(p_service text, p_method text, p_url text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select left(concat_ws(' ', p_method, p_service, regexp_replace(
    substring(postrider_internal.url_without_login(p_url) from '^[^?#]*'),
    '(^|/)(?:[0-9]+|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})(?=/|$)', E'\\1*',
    'g')), 300)
$$;
comment on function postrider_internal.call_endpoint(text, text, text) is
  'the name of the endpoint of a call: method, service and path before templates, with ids replaced by *';
