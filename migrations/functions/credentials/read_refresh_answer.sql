-- SPDX-License-Identifier: Apache-2.0
-- s: there is a token. r: a retry may succeed. d: the same, and store_refresh counts it as a refusal: 400, 401 or 403,
-- or a good status without a token. f: the user must log in again, because the answer has an error code of RFC 6749,
-- 5.2 or 4.1.2.1.
--
-- Some servers always answer form-encoded. The result error quotes only error and error_description of an answer; the
-- worker removes secrets from it.
create or replace function postrider_internal.read_refresh_answer(
  p_credential text, p_status int, p_headers bytea, p_body bytea,
  out verdict "char", out access_token text, out refresh_token text, out expires_in int, out error text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb;
  v_json jsonb;
  v_text text;
  v_code text;
  v_value jsonb;
  v_said text;
begin
  select coalesce(c.refresh, '{"access_token": "$.access_token", "refresh_token": "$.refresh_token", "expires_in": "$.expires_in"}')
    into v_spec from postrider.credentials c where c.name = p_credential;
  begin
    v_text := postrider_internal.answer_text(p_body,
                                             coalesce(postrider_internal.answer_charset(p_headers, p_body, true),
                                                      'utf-8'));
    v_json := case when v_text ~ E'^[A-Za-z0-9_.%-]+=[^<\\s]*$' then postrider_internal.form_json(v_text)
      else v_text::jsonb end;
  exception when others then
    if postrider_internal.is_transient_error(sqlstate) then
      raise;
    end if;
    v_json := null;
  end;
  v_code := case when jsonb_typeof(v_json -> 'error') = 'string' then v_json ->> 'error' end;
  v_said := coalesce(' ' || nullif(left(v_code, 100), ''), '')
    || coalesce(': ' || left(case when jsonb_typeof(v_json -> 'error_description') = 'string'
                             then v_json ->> 'error_description' end, 300), '');
  v_said := regexp_replace(v_said, E'[\\x01-\\x1f\\x7f]+', ' ', 'g');
  if v_code in ('invalid_grant', 'invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope',
                'access_denied') then
    verdict := 'f';
    error := format('the token endpoint answered %s%s', p_status, v_said);
    return;
  elsif p_status not between 200 and 299 then
    verdict := case
      when v_code in ('temporarily_unavailable', 'server_error', 'slow_down') then 'r'
      when p_status in (400, 401, 403) then 'd' else 'r' end;
    error := format('the token endpoint answered %s%s', p_status, v_said);
    return;
  end if;
  if v_json is null then
    verdict := 'r';
    error := format('the token endpoint answered %s with neither JSON nor a form', p_status);
    return;
  end if;
  begin
    v_value := jsonb_path_query_first(v_json, (v_spec ->> 'access_token')::jsonpath, '{}', true);
    access_token := case when jsonb_typeof(v_value) in ('string', 'number') then v_value #>> '{}' end;
    v_value := jsonb_path_query_first(v_json, (v_spec ->> 'refresh_token')::jsonpath, '{}', true);
    refresh_token := case when jsonb_typeof(v_value) in ('string', 'number') then v_value #>> '{}' end;
    v_value := jsonb_path_query_first(v_json, (v_spec ->> 'expires_in')::jsonpath, '{}', true);
  exception when others then
    if postrider_internal.is_transient_error(sqlstate) then
      raise;
    end if;
    access_token := null;
  end;
  if coalesce(access_token, '') = '' or access_token ~ E'[\\x01-\\x1f\\x7f]' or octet_length(access_token) > 16000 then
    verdict := 'd';
    access_token := null;
    refresh_token := null;
    error := format('the token endpoint answered %s%s; the answer has no usable token', p_status, v_said);
    return;
  end if;
  if refresh_token = '' or octet_length(refresh_token) > 16000 then
    refresh_token := null;
  end if;
  -- Some servers send it as text. Invalid values count as absent. Not cast to numeric, which holds at most 16383
  -- decimals.
  expires_in := nullif(substring(v_value #>> '{}' from E'^([0-9]{1,9})(?:\\.[0-9]+)?$')::int, 0);
  verdict := 's';
end
$$;
comment on function postrider_internal.read_refresh_answer(text, int, bytea, bytea) is
  'how a refresh ended: s: token; r: retry; d: retry, refused; f: log in again; stores nothing';
