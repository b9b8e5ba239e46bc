-- SPDX-License-Identifier: Apache-2.0
-- after: requests/has_secret_word.sql, requests/masked_json_text.sql
-- The text itself shows whether it is JSON or a form: a Content-Type may be wrong. A text above 256 KiB with a word of
-- a secret name is masked as a whole: JSON of 256 KiB takes a quarter of a second (PostgreSQL 15).
create or replace function postrider_internal.masked_text(
  p_text text, p_mask text default '***', p_other text default null) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if postrider_internal.has_secret_word(p_text) is not true then
    return p_text;
  elsif octet_length(p_text) > 262144 then
    return p_mask;
  elsif p_text ~ E'^\\s*[{\\[]' then
    begin
      perform p_text::jsonb;
      return postrider_internal.masked_json_text(p_text, p_mask, coalesce(p_other, p_mask));
    exception when data_exception or syntax_error_or_access_rule_violation then
      -- Something else that begins with a bracket.
      return p_mask;
    end;
  elsif p_text ~ E'^[^\\s=&]+=[^\\s]*$' then
    return substr(postrider_internal.url_with_masked_query('?' || p_text, '{}', p_mask), 2);
  end if;
  return p_text;
end
$$;
comment on function postrider_internal.masked_text(text, text, text) is
  'the text of a request body with *** for values of secret names in JSON and forms';
