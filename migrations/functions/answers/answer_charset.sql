-- SPDX-License-Identifier: Apache-2.0
-- A byte order mark counts more than a header (RFC 7303, 3.3; RFC 8259, 8.1 allows a reader to accept one). It is
-- searched only in text. Among several charset parameters the first counts.
create or replace function postrider_internal.answer_charset(p_headers bytea, p_body bytea,
                                                             p_is_text boolean) returns text
language plpgsql immutable
as $$
declare
  v_type text := lower(postrider_internal.content_type(p_headers) collate "C");
  v_match text[];
  v_name text;
begin
  if (p_is_text or v_type ~ '^text/|json|xml|javascript') and octet_length(p_body) >= 2
    and get_byte(p_body, 0) >= 239 then
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
  -- Skips earlier parameters as a whole, so that a quoted value cannot look like a charset parameter.
  v_match := regexp_match(v_type,
    E'^[^;]*(?:;(?!\\s*charset\\s*=)(?:[^";]|"(?:[^"\\\\]|\\\\.)*")*)*;\\s*charset\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s"]*))');
  v_name := btrim(coalesce(v_match[1], v_match[2]), ' ''');
  if v_name !~ '^[a-z0-9][a-z0-9_.:+-]{0,39}$' then
    return null;
  end if;
  -- RFC 8259, 8.1: JSON is UTF-8, but servers label it with their own default. UTF-16 holds zero bytes, which UTF-8
  -- text does not.
  if v_name not in ('utf-8', 'utf8')
     and (split_part(v_type, ';', 1) like '%json%'
          or (p_is_text or v_type not like 'text/%') and substring(p_body from 1 for 1) in ('{', '[')) then
    begin
      perform convert_from(p_body, 'UTF8');
      return 'utf-8';
    exception when character_not_in_repertoire or untranslatable_character then
      return v_name;
    end;
  end if;
  return v_name;
end
$$;
comment on function postrider_internal.answer_charset(bytea, bytea, boolean) is
  'the charset of an answer in lower case: byte order mark, UTF-8 for valid JSON, or Content-Type; null: none';
