-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_authority.sql
create or replace function postrider_internal.url_origin(p_url text) returns text
language sql immutable strict parallel safe
begin atomic
  select lower(split_part(p_url, ':', 1) collate "C") || '://' || postrider_internal.url_authority(p_url);
end;
comment on function postrider_internal.url_origin(text) is
  'scheme, host and port of an absolute URL in lower case, with default ports 80 and 443';
