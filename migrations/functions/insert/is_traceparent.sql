-- SPDX-License-Identifier: Apache-2.0
-- W3C Trace Context: version, trace id, parent id and flags in lower-case hex. Version ff is invalid, and so are ids of
-- zeros. Versions after 00 may have more fields at the end. Has no SET clause, so PostgreSQL inlines it.
create or replace function postrider_internal.is_traceparent(p_text text) returns boolean
language sql immutable parallel safe
return length(p_text) <= 256 and (p_text not like '00%' or length(p_text) = 55)
  and p_text ~ '^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?$';
comment on function postrider_internal.is_traceparent(text) is
  'whether a text is a traceparent of W3C Trace Context; null for null';
