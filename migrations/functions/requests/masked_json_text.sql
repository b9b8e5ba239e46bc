-- SPDX-License-Identifier: Apache-2.0
-- after: requests/masked_json.sql
-- Like masked_json, but all other bytes of the text stay. A name is known as such only at the colon behind it, so each
-- string waits for the token that follows it.
--
-- Each piece is appended as the last operand of one ||. Only then does PL/pgSQL change the array in place. Otherwise
-- 250 KB took 44 s.
create or replace function postrider_internal.masked_json_text(p_text text, p_mask text, p_other text) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_out text[] := '{}';
  v_token text;
  v_string text;                           -- the last string, and the blanks behind it
  v_blanks text := '';
  v_depth int := 0;
  v_from int;                              -- depth of the value of a secret name; null: not in one
  v_is_secret boolean := false;            -- the name before the next value is secret
begin
  for v_token in
    select m[1] from regexp_matches(p_text, E'("(?:[^"\\\\]|\\\\.)*"|[{}\\[\\],:]|[^\\s"{}\\[\\],:]+|\\s+)', 'g') m
  loop
    if v_string is not null and v_token ~ E'^\\s' then
      v_blanks := v_token;
      continue;
    elsif v_token = ':' then
      v_is_secret := postrider_internal.is_secret_name(v_string::jsonb #>> '{}');
      v_out := v_out || (v_string || v_blanks);
    elsif v_string is not null then
      v_out := v_out || (case when v_is_secret or v_from is not null then to_jsonb(p_mask)::text
        when v_string like '%://%@%'
          then to_jsonb(postrider_internal.url_with_masked_login(v_string::jsonb #>> '{}', p_mask))::text
        else v_string end || v_blanks);
      v_is_secret := false;
    end if;
    v_string := null;
    v_blanks := '';
    if v_token like '"%' then
      v_string := v_token;
      continue;
    elsif v_token in ('{', '[') then
      v_depth := v_depth + 1;
      v_from := coalesce(v_from, case when v_is_secret then v_depth end);
      v_is_secret := false;
    elsif v_token in ('}', ']') then
      v_from := nullif(v_from, v_depth);
      v_depth := v_depth - 1;
    elsif v_token ~ '^[a-z0-9-]' then
      if (v_is_secret or v_from is not null) and v_token <> 'null' then
        v_token := to_jsonb(p_other)::text;
      end if;
      v_is_secret := false;
    end if;
    v_out := v_out || v_token;
  end loop;
  return array_to_string(v_out || (v_string || v_blanks), '');
end
$$;
comment on function postrider_internal.masked_json_text(text, text, text) is
  'the text of a JSON value with *** for values of secret names; blanks and order stay';
