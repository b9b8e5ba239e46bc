-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_is_absolute.sql
create or replace function postrider_internal.url_is_relative(p_url text) returns boolean
language sql immutable parallel safe
begin atomic
  select not postrider_internal.url_is_absolute(p_url) and p_url not like '//%';
end;
comment on function postrider_internal.url_is_relative(text) is
  'whether a URL has neither scheme nor host, so that it goes to an origin of its service; null for null';
