-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.try_jsonb(p_body bytea) returns jsonb
language plpgsql immutable strict
as $$
declare
  v_text text;
  v_json jsonb;
begin
  v_text := convert_from(p_body, 'UTF8');
  v_json := v_text::jsonb;
  -- 2,000 bytes hold at most 222 numbers like 1e131071, 29 MB when written out. PostgreSQL can print such a row.
  return case when octet_length(v_text) <= 2000 or not postrider_internal.has_endless_numbers(v_text, v_json)
    then v_json end;
exception when others then
  -- A shortage of the database says nothing about the body.
  if postrider_internal.is_transient_error(sqlstate) then
    raise;
  end if;
  return null;
end
$$;
comment on function postrider_internal.try_jsonb(bytea) is
  E'a body as jsonb; null if it is not UTF-8, not JSON, not storable (\\u0000), or has_endless_numbers';
