-- SPDX-License-Identifier: Apache-2.0
-- A byte order mark says more than a header (RFC 7303, 3.3; RFC 8259, 8.1 lets a reader accept one); it is looked for in
-- text only. Of several charset parameters the first counts.
create or replace function postrider.answer_charset(p_headers bytea, p_body bytea, p_is_text boolean) returns text
language plpgsql immutable parallel safe
as $$
declare
  v_type text := lower(postrider.content_type(p_headers) collate "C");
  v_match text[];
  v_name text;
begin
  if (p_is_text or v_type ~ '^text/|json|xml|javascript') and octet_length(p_body) >= 2 and get_byte(p_body, 0) >= 239 then
    if substring(p_body from 1 for 3) = E'\\xefbbbf' then
      return 'utf-8';
    elsif substring(p_body from 1 for 2) = E'\\xfffe' then
      return 'utf-16le';
    elsif substring(p_body from 1 for 2) = E'\\xfeff' then
      return 'utf-16be';
    end if;
  end if;
  if position('charset' in v_type) = 0 then
    return null;
  elsif v_type in ('application/json; charset=utf-8', 'application/json;charset=utf-8') then
    return 'utf-8';
  end if;
  -- Parameters before it are passed over whole, so that a quoted value cannot pose as one.
  v_match := regexp_match(v_type,
    E'^[^;]*(?:;(?!\\s*charset\\s*=)(?:[^";]|"(?:[^"\\\\]|\\\\.)*")*)*;\\s*charset\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s"]*))');
  v_name := btrim(coalesce(v_match[1], v_match[2]), ' ''');
  return case when v_name ~ '^[a-z0-9][a-z0-9_.:+-]{0,39}$' then v_name end;
end
$$;
comment on function postrider.answer_charset(bytea, bytea, boolean) is
  'private: the charset that an answer declares, lower case, by its byte order mark or its Content-Type; null without one';
