-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function. jsonb stores 1e100000 in a few bytes and writes it out with 100,000 digits. 80 KB
-- of such numbers need more text than a value can hold. Each claim or view that must write them out would fail as a
-- whole. Writing out 300 bytes takes 1.7 µs.
create or replace function postrider_internal.is_storable_json(p_json jsonb) returns boolean
language sql immutable parallel safe
as $$
  select octet_length(p_json::text) <= 67108864
$$;
comment on function postrider_internal.is_storable_json(jsonb) is
  'whether JSON has at most 64 MiB when it is written out; raises 54000 beyond 1 GiB';
