-- SPDX-License-Identifier: Apache-2.0
-- after: insert/form_size.sql, insert/parts_bytes.sql
-- PostgreSQL inlines this function into a subquery of claim. claim has already written out JSON (p_written) unless it
-- takes more than 16 KiB in the table. A body of bytes is not read. The parameters are columns, because for a whole row
-- the planner would build a value for each job.
create or replace function postrider_internal.large_body_bytes(p_body bytea, p_json jsonb, p_written bytea,
                                                               p_form jsonb, p_parts jsonb) returns bigint
language sql stable
as $$
  select case
    when p_body is not null then case when octet_length(p_body) > 65536 then octet_length(p_body)::bigint end
    when p_written is not null then case when octet_length(p_written) > 65536 then octet_length(p_written)::bigint end
    when p_json is not null then postrider_internal.json_bytes(p_json, 1073741824)
    when p_form is not null then case
      when octet_length(p_form::text) > 400
        then nullif(greatest(postrider_internal.form_size(p_form), 65536), 65536)::bigint end
    when p_parts is not null then case
      when pg_column_size(p_parts) > 16384 or octet_length(p_parts::text) > 65536
        then postrider_internal.parts_bytes(p_parts) end
  end
$$;
comment on function postrider_internal.large_body_bytes(bytea, jsonb, bytea, jsonb, jsonb) is
  'about how many bytes a body has as it is sent, if more than 64 KiB; null: smaller';
