-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.url_encode(value text) returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.percent_encoded(value)
$$;
comment on function postrider.url_encode(text) is
  'encodes a value for any part of a URL: all its UTF-8 bytes except letters, digits and -._~ become %XX';
