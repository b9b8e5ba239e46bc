-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.refresh_call(
  p_credential postrider.credentials, out method text, out url text, out headers text[], out body bytea,
  out form text[],
  out client_id text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb := p_credential.refresh;
begin
  if p_credential.kind = 'custom' then
    method := upper(coalesce(v_spec ->> 'method', 'POST') collate "C");
    url := v_spec ->> 'url';
    headers := postrider_internal.pairs(coalesce(v_spec -> 'headers', '{}'));
    body := convert_to((v_spec -> 'body_json')::text, 'UTF8');
    form := postrider_internal.form_pairs(v_spec -> 'body_form');
    return;
  end if;
  method := 'POST';
  url := p_credential.token_url;
  headers := array['Accept', 'application/json'];
  form := case p_credential.kind
    when 'oauth2_client_credentials' then array['grant_type', 'client_credentials']
    else array['grant_type', 'refresh_token', 'refresh_token', '{{refresh_token}}'] end
    || case when p_credential.scope is not null then array['scope', p_credential.scope] else '{}' end
    || case p_credential.client_auth
         when 'post' then array['client_id', p_credential.client_id, 'client_secret', '{{client_secret}}']
         when 'none' then array['client_id', p_credential.client_id] else '{}' end;
  client_id := case p_credential.client_auth when 'basic' then p_credential.client_id end;
end
$$;
comment on function postrider_internal.refresh_call(postrider.credentials) is
  'the request that fetches a new token, secrets as {{name}}; client_id: the worker adds Basic authentication';
