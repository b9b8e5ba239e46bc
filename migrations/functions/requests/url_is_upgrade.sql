-- SPDX-License-Identifier: Apache-2.0
-- after: requests/url_place.sql
-- The certificate of the https host proves that it is the same one, so what may go to the first may go to the second.
-- Another port may belong to somebody else.
create or replace function postrider_internal.url_is_upgrade(p_from text, p_to text) returns boolean
language sql immutable strict parallel safe
begin atomic
  select lower(left(p_from, 5) collate "C") = 'http:' and lower(left(p_to, 6) collate "C") = 'https:'
     and postrider_internal.url_place(p_from) ~ ':80$'
     and postrider_internal.url_place(p_to) = regexp_replace(postrider_internal.url_place(p_from), ':80$', ':443');
end;
comment on function postrider_internal.url_is_upgrade(text, text) is
  'whether the second absolute URL is on the host of the first, and leads from http on port 80 to https on port 443';
