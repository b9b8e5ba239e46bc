-- SPDX-License-Identifier: Apache-2.0
-- 300 stands for the other columns, the row and its index entry.
--
-- The planner inlines this function.
create or replace function postrider_internal.cache_entry_bytes(p_url text, p_headers bytea,
                                                                p_body bytea) returns bigint
language sql immutable parallel safe
begin atomic
  select octet_length(p_url) + octet_length(p_headers) + octet_length(p_body) + 300::bigint;
end;
comment on function postrider_internal.cache_entry_bytes(text, bytea, bytea) is
  'the size of a cached answer that counts for settings.cache_max_bytes';
