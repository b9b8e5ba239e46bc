-- SPDX-License-Identifier: Apache-2.0
-- An object or a list is JSON whatever its Content-Type says; a bare number or word only if that says JSON, so that the
-- text 1e5 stays what it was. A shortage of the database (memory, a lock, a file that cannot be read) is raised: without its body a step
-- would be skipped.
create or replace function postrider.answer_value(p_headers bytea, p_body bytea, p_encoding text) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text;
  v_json jsonb;
begin
  if coalesce(octet_length(p_body), 0) = 0 then
    return null;
  end if;
  v_text := postrider.answer_text(p_body, coalesce(p_encoding, postrider.answer_charset(p_headers, p_body, true), 'utf-8'));
  begin
    v_json := v_text::jsonb;
    if octet_length(v_text) > 2000 and postrider.has_endless_numbers(v_text, v_json) then
      v_json := null;
    end if;
  exception when others then
    if postrider.is_passing(sqlstate) then
      raise;
    end if;
    v_json := null;
  end;
  if jsonb_typeof(v_json) in ('object', 'array') or v_json is not null and split_part(postrider.content_type(p_headers), ';', 1) ~* 'json' then
    return v_json;
  end if;
  return to_jsonb(v_text);
exception when others then
  if postrider.is_passing(sqlstate) then
    raise;
  end if;
  return null;
end
$$;
comment on function postrider.answer_value(bytea, bytea, text) is
  'private: the body of an answer as templates see it: its JSON, else its text; null without a body, or if it is no text';
