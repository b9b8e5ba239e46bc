-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.answer_text(p_body bytea, p_charset text) returns text
language plpgsql stable strict parallel safe
as $$
declare
  v_encoding text;
  v_mark bytea;
begin
  if p_charset = 'utf-8' and p_body < E'\\xefbbbf' then
    return convert_from(p_body, 'UTF8');
  end if;
  -- A body with an unknown charset may still be UTF-8.
  v_encoding := coalesce(postrider_internal.charset_encoding(p_charset), 'UTF8');
  v_mark := substring(p_body from 1 for 2);
  if v_encoding = 'UTF16' then
    if octet_length(p_body) > 8388608 then
      raise exception using errcode = 'program_limit_exceeded';
    end if;
    if v_mark in (E'\\xfffe', E'\\xfeff') then
      return postrider_internal.utf16_text(substring(p_body from 3), v_mark = E'\\xfffe');
    end if;
    -- Without a mark: the byte order that the charset names, or the order in which the first character of JSON, always
    -- ASCII, is valid.
    return postrider_internal.utf16_text(p_body, p_charset = 'utf-16le' or p_charset = 'utf-16'
                                         and substring(v_mark from 2) = E'\\x00');
  elsif v_encoding = 'UTF8' and v_mark = E'\\xefbb' and substring(p_body from 3 for 1) = E'\\xbf' then
    return convert_from(substring(p_body from 4), 'UTF8');
  end if;
  return convert_from(p_body, v_encoding);
end
$$;
comment on function postrider_internal.answer_text(bytea, text) is
  'a body as text by its charset, without the byte order mark; raises for invalid bytes';
