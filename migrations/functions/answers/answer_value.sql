-- SPDX-License-Identifier: Apache-2.0
-- An object or a list is JSON with any Content-Type. A single number or word is JSON only if the Content-Type says so;
-- otherwise the text 1e5 would change. A shortage of the database (memory, a lock, an unreadable file) is raised,
-- because without its body a step would be skipped.
--
-- The reason of a defect is found here instead of taken from the error, because the error of PostgreSQL quotes the
-- body.
create or replace function postrider_internal.answer_value(
  p_headers bytea, p_body bytea, p_encoding text, out value jsonb, out defect text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_charset text := coalesce(p_encoding, postrider_internal.answer_charset(p_headers, p_body, true), 'utf-8');
  v_text text;
  v_reason text;
begin
  if coalesce(octet_length(p_body), 0) = 0 then
    return;
  end if;
  begin
    v_text := postrider_internal.answer_text(p_body, v_charset);
    begin
      value := v_text::jsonb;
      if octet_length(v_text) > 2000 and postrider_internal.has_endless_numbers(v_text, value) then
        value := null;
        v_reason := 'it has more than 100 numbers of 1,000 or more digits';
      end if;
    exception when others then
      if postrider_internal.is_transient_error(sqlstate) then
        raise;
      end if;
      v_reason := case
        when sqlstate = '22P05' then E'it has \\u0000 in it, which PostgreSQL cannot keep'
        when sqlstate = '22003' then 'it has a number in it that is too large for the type numeric'
        when v_text ~* E'\\\\ud[89ab][0-9a-f]{2}(?!\\\\ud[c-f][0-9a-f]{2})|(?<!\\\\ud[89ab][0-9a-f]{2})\\\\ud[c-f][0-9a-f]{2}'
          then E'it has half of a surrogate pair in it, like \\ud83d without \\ude00'
        when sqlstate = '22P02' then 'it breaks off, or its syntax is wrong'
        when sqlstate = '54001' then 'it is nested too deeply'
        else format('PostgreSQL refuses it (SQLSTATE %s)', sqlstate) end;
    end;
  exception when others then
    if postrider_internal.is_transient_error(sqlstate) then
      raise;
    end if;
    v_reason := case when sqlstate = '54000' then 'it is larger than 8 MiB in UTF-16'
      else format('its bytes are not valid %s', v_charset) end;
  end;
  if jsonb_typeof(value) in ('object', 'array') or value is not null and postrider_internal.says_json(p_headers) then
    return;
  end if;
  if v_reason is not null and postrider_internal.claims_json(coalesce(p_headers, ''), p_body) then
    defect := 'is JSON that cannot be read: ' || v_reason;
  end if;
  value := to_jsonb(v_text);
end
$$;
comment on function postrider_internal.answer_value(bytea, bytea, text) is
  'the body of an answer for templates: JSON, or text; null without text; defect: why claimed JSON cannot be read';
