-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_authority.sql
-- The certificate of the https host proves that it is the same host, so it may receive the same data. Another port may
-- belong to another party.
create or replace function postrider_internal.url_is_upgrade(p_from text, p_to text) returns boolean
language sql immutable strict parallel safe
begin atomic
  select lower(left(p_from, 5) collate "C") = 'http:' and lower(left(p_to, 6) collate "C") = 'https:'
     and postrider_internal.url_authority(p_from) ~ ':80$'
     and postrider_internal.url_authority(p_to)
           = regexp_replace(postrider_internal.url_authority(p_from), ':80$', ':443');
end;
comment on function postrider_internal.url_is_upgrade(text, text) is
  'whether two absolute URLs have one host, the first with http on port 80, the second with https on port 443';
