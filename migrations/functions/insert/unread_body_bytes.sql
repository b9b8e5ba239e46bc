-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function. It serves a claim that must not fail for any row.
create or replace function postrider_internal.unread_body_bytes(p_body bytea, p_other jsonb) returns bigint
language sql stable parallel safe
as $$
  select case when p_body is not null then case when octet_length(p_body) > 65536 then octet_length(p_body)::bigint end
              when pg_column_size(p_other) > 300 then -1 end
$$;
comment on function postrider_internal.unread_body_bytes(bytea, jsonb) is
  'like large_body_bytes without writing anything out; -1: the body may be large';
