-- SPDX-License-Identifier: Apache-2.0
-- Compares codes as text, because APIs send both 200 and "200". The message of the answer is shortened to one line. It
-- is the only text of an answer in an error.
create or replace function postrider_internal.envelope_outcome(
  p_envelope jsonb, p_json jsonb, out code text, out error text, out envelope_code text, out error_name text)
language plpgsql immutable
as $$
declare
  v_code jsonb := jsonb_path_query_first(p_json, (p_envelope ->> 'code')::jsonpath, '{}', true);
  v_text text := v_code #>> '{}';
  v_message text;
begin
  if v_text is null and p_json is not null and p_envelope ->> 'if_missing' = 'success' then
    return;
  end if;
  if v_text is null or jsonb_typeof(v_code) in ('object', 'array') then
    code := 'envelope';
    error := format('the answer has no code at %s, so its success is unknown; check services.envelope',
      p_envelope ->> 'code');
    return;
  end if;
  if jsonb_typeof(v_code) = 'number' then
    v_text := trim_scale(v_text::numeric)::text;
  end if;
  -- Finds most successes. The query below compares as text too, but an expression without a query is much faster.
  if coalesce(p_envelope -> 'success', '[200]') @> v_code then
    return;
  end if;
  code := case
    when exists (select from jsonb_array_elements_text(coalesce(p_envelope -> 'success', '[200]')) e where e = v_text)
      then null
    when exists (select from jsonb_array_elements_text(p_envelope -> 'token_expired') e where e = v_text)
      then 'token_expired'
    when exists (select from jsonb_array_elements_text(p_envelope -> 'logged_out') e where e = v_text) then 'logged_out'
    else 'envelope' end;
  if code is null then
    return;
  end if;
  v_message := jsonb_path_query_first(p_json, (p_envelope ->> 'message')::jsonpath, '{}', true) #>> '{}';
  v_message := left(btrim(regexp_replace(left(v_message, 1000), E'[\\x01-\\x20\\x7f-\\x9f]+', ' ', 'g')), 500);
  v_text := left(regexp_replace(left(v_text, 200), E'[\\x01-\\x20\\x7f-\\x9f]+', ' ', 'g'), 100);
  envelope_code := v_text;
  error_name := p_envelope -> 'errors' ->> v_text;
  error := format('%s: %s', coalesce(error_name, v_text),
    coalesce(nullif(v_message, ''), case code
      when 'token_expired' then 'the answer says that the token has expired; log in again'
      when 'logged_out' then 'the answer says that the user is logged out; log in again'
      else 'the answer''s code is not a success' end));
end
$$;
comment on function postrider_internal.envelope_outcome(jsonb, jsonb) is
  'the meaning of the code in an answer: null for a success, or token_expired, logged_out or envelope with a sentence';
