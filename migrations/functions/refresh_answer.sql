-- SPDX-License-Identifier: Apache-2.0
-- s: there is a token. r: another try may end better. f: the user is to log in again: the grant is refused (400, 401, 403), or
-- the answer is good by its status and holds no token. Nothing of an answer stands in an error but a code of RFC 6749.
create or replace function postrider.refresh_answer(
  p_credential text, p_status int, p_headers bytea, p_body bytea,
  out verdict "char", out access_token text, out refresh_token text, out expires_in int, out error text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb;
  v_json jsonb;
  v_code text;
  v_value jsonb;
begin
  select coalesce(c.refresh, '{"access_token": "$.access_token", "refresh_token": "$.refresh_token", "expires_in": "$.expires_in"}')
    into v_spec from postrider.credentials c where c.name = p_credential;
  begin
    v_json := postrider.answer_text(p_body, coalesce(postrider.answer_charset(p_headers, p_body, true), 'utf-8'))::jsonb;
  exception when others then
    if postrider.is_passing(sqlstate) then
      raise;
    end if;
    v_json := null;
  end;
  if p_status not between 200 and 299 then
    v_code := substring(v_json ->> 'error' from '^[a-z_]{1,40}$');
    verdict := case
      when v_code in ('temporarily_unavailable', 'server_error', 'slow_down') then 'r'
      when p_status in (400, 401, 403) then 'f' else 'r' end;
    error := format('the token endpoint answered %s%s', p_status, coalesce(' ' || v_code, ''));
    return;
  end if;
  if v_json is null then
    verdict := 'r';
    error := format('the token endpoint answered %s without JSON', p_status);
    return;
  end if;
  begin
    v_value := jsonb_path_query_first(v_json, (v_spec ->> 'access_token')::jsonpath, '{}', true);
    access_token := case when jsonb_typeof(v_value) in ('string', 'number') then v_value #>> '{}' end;
    v_value := jsonb_path_query_first(v_json, (v_spec ->> 'refresh_token')::jsonpath, '{}', true);
    refresh_token := case when jsonb_typeof(v_value) in ('string', 'number') then v_value #>> '{}' end;
    v_value := jsonb_path_query_first(v_json, (v_spec ->> 'expires_in')::jsonpath, '{}', true);
  exception when others then
    if postrider.is_passing(sqlstate) then
      raise;
    end if;
    access_token := null;
  end;
  if coalesce(access_token, '') = '' or access_token ~ E'[\\x01-\\x1f\\x7f]' or octet_length(access_token) > 16000 then
    verdict := 'f';
    access_token := null;
    refresh_token := null;
    error := format('the token endpoint answered %s without a token that can be used', p_status);
    return;
  end if;
  if refresh_token = '' or octet_length(refresh_token) > 16000 then
    refresh_token := null;
  end if;
  -- Some send it as text; nonsense counts as absent. Not by way of numeric, which no more than 16383 decimals fit.
  expires_in := nullif(substring(v_value #>> '{}' from E'^([0-9]{1,9})(?:\\.[0-9]+)?$')::int, 0);
  verdict := 's';
end
$$;
comment on function postrider.refresh_answer(text, int, bytea, bytea) is
  'private: what the token endpoint''s answer says: s with the token, r: try again, f: refused for good; nothing is stored';
