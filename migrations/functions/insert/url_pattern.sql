-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.url_pattern(p_url text) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when postrider_internal.is_plain_url(p_url)
                   and postrider_internal.is_plain_host(split_part(p_url, '/', 3))
              then substring(p_url from '^https?://[a-z0-9.-]+(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}))?/') || '%' end;
end
$$;
comment on function postrider_internal.url_pattern(text) is
  'pattern for LIKE of the URLs with the scheme and host of a plain URL; null for other URLs, and without a path';
