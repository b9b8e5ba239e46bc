-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function, so it must be as stable as pg_column_size. The first two conditions limit the text
-- that the third builds: 1e130000 takes twelve bytes and is written with 130,000.
create or replace function postrider_internal.is_small_json(p_json jsonb) returns boolean
language sql stable parallel safe
as $$
  select pg_column_size(p_json) <= 8192 and pg_column_compression(p_json) is null
    and octet_length(p_json::text) <= 65536
$$;
comment on function postrider_internal.is_small_json(jsonb) is
  'whether JSON has at most 64 KiB as text by quick checks; if false, json_bytes decides';
