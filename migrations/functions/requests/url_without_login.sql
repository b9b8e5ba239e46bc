-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.url_without_login(p_url text) returns text
language sql immutable strict parallel safe
begin atomic
  select regexp_replace(p_url, '^((?:[Hh][Tt][Tt][Pp][Ss]?:)?/*)[^/?#]*@', E'\\1');
end;
comment on function postrider_internal.url_without_login(text) is 'a URL without its user and password';
