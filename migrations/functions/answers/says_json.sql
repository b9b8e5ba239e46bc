-- SPDX-License-Identifier: Apache-2.0
-- after: requests/content_type.sql
create or replace function postrider_internal.says_json(p_headers bytea) returns boolean
language sql immutable parallel safe
begin atomic
  select split_part(postrider_internal.content_type(p_headers), ';', 1) ~* 'json';
end;
comment on function postrider_internal.says_json(bytea) is
  'whether the Content-Type of an answer is JSON; null without one';
