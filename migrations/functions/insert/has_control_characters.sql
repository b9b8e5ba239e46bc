-- SPDX-License-Identifier: Apache-2.0
-- A tab is allowed (RFC 9110, 5.5).
create or replace function postrider_internal.has_control_characters(p_text text) returns boolean
language sql immutable parallel safe
as $$
  select p_text ~ E'[\\x01-\\x08\\x0a-\\x1f\\x7f]'
$$;
comment on function postrider_internal.has_control_characters(text) is
  'whether a value of a header holds a line break or another control character';
