-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.url_encode(value text) returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.percent_encoded(value)
$$;
comment on function postrider.url_encode(text) is
  'a value for any part of a URL: its UTF-8 bytes, all except letters, digits and -._~ as %XX';
