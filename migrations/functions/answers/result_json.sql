-- SPDX-License-Identifier: Apache-2.0
-- after: answers/says_json.sql, answers/try_jsonb.sql
create or replace function postrider_internal.result_json(p_headers bytea, p_body bytea) returns jsonb
language sql immutable
begin atomic
  select case when octet_length(p_body) > 0 and postrider_internal.says_json(p_headers)
    then postrider_internal.try_jsonb(p_body) end;
end;
comment on function postrider_internal.result_json(bytea, bytea) is
  'the JSON of an answer with a JSON Content-Type, parsed when it is read; null for any other body';
