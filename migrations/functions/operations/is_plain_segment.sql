-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function. With {1,200} in one regular expression, a check takes 4 µs instead of 0.1 µs.
create or replace function postrider_internal.is_plain_segment(p_text text) returns boolean
language sql immutable parallel safe
return p_text !~ '[^A-Za-z0-9_~-]' and length(p_text) between 1 and 200;
comment on function postrider_internal.is_plain_segment(text) is
  'whether a text may stand in the path or query of a URL as it is; null for null';
