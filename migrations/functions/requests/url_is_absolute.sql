-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function. Any other URL is relative to the base URL of a service.
create or replace function postrider_internal.url_is_absolute(p_url text) returns boolean
language sql immutable parallel safe
begin atomic
  select p_url ~ '^[A-Za-z][A-Za-z0-9+.-]*:';
end;
comment on function postrider_internal.url_is_absolute(text) is 'whether a URL begins with a scheme; null for null';
