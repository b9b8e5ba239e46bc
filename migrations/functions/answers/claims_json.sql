-- SPDX-License-Identifier: Apache-2.0
-- after: answers/says_json.sql
-- Skips white space, byte order marks, and the zero bytes of UTF-16 at the beginning.
create or replace function postrider_internal.claims_json(p_headers bytea, p_body bytea) returns boolean
language sql immutable strict parallel safe
begin atomic
  select coalesce(postrider_internal.says_json(p_headers), false)
         or coalesce(postrider_internal.content_type(p_headers), '') !~* '^text/'
            and substring(ltrim(substring(p_body from 1 for 100), E'\\x20090a0dfffeefbbbf00'::bytea) from 1 for 1)
              in (E'\\x7b'::bytea, E'\\x5b'::bytea);
end;
comment on function postrider_internal.claims_json(bytea, bytea) is
  'whether an answer claims to be JSON: by its Content-Type, or by { or [ at the start without a Content-Type text/*';
