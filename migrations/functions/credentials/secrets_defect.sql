-- SPDX-License-Identifier: Apache-2.0
-- For secrets that were sealed before they came here, only p_names is known. A custom credential may have any names.
create or replace function postrider_internal.secrets_defect(
  p_kind text, p_names text[], p_secrets jsonb, out place text, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_allowed constant text[] := case p_kind
    when 'basic' then array['username', 'password']
    when 'bearer' then array['access_token']
    when 'api_key' then array['access_token', 'api_key']
    when 'oauth2_client_credentials' then array['client_secret', 'access_token']
    when 'oauth2_refresh_token' then array['refresh_token', 'access_token', 'client_secret'] end;
  -- basic needs both, the other kinds at least one of these.
  v_needed constant text[] := case p_kind
    when 'basic' then array['username', 'password']
    when 'bearer' then array['access_token']
    when 'api_key' then array['access_token', 'api_key']
    when 'oauth2_client_credentials' then array['client_secret']
    when 'oauth2_refresh_token' then array['refresh_token', 'access_token'] end;
begin
  hint := format('A credential of kind %s takes %s, and optionally expires_in or expires_at.',
    p_kind, coalesce(array_to_string(v_allowed, ', '), 'the secrets that its refresh names, and access_token'));
  select n into place from unnest(p_names) n
   where n <> all (coalesce(v_allowed, array[n])) or n !~ '^[A-Za-z_][A-Za-z0-9_]{0,62}$' limit 1;
  if found then
    place := '$' || postrider_internal.json_path_key(left(place, 100));
    reason := 'is not a secret of this kind of credential';
  elsif cardinality(p_names) = 0 then
    place := '$';
    reason := 'holds no secret';
  elsif p_kind = 'basic' and not p_names @> v_needed then
    place := '$';
    reason := 'needs both username and password';
  elsif not p_names && coalesce(v_needed, p_names) then
    place := '$';
    reason := format('must hold one of %s', array_to_string(v_needed, ', '));
  else
    select '$' || postrider_internal.json_path_key(e.key),
           case when jsonb_typeof(e.value) <> 'string' or e.value = '""' then 'is empty or not text'
                when p_kind = 'basic' and e.key = 'username' and e.value #>> '{}' like '%:%'
                  then 'holds a colon, which a user name cannot contain'
                when octet_length(e.value #>> '{}') > 16000 then 'is longer than 16,000 bytes'
                else 'holds a control character' end
      into place, reason
      from jsonb_each(p_secrets) e
     -- Some APIs take a key as the user and no password.
     where jsonb_typeof(e.value) <> 'string' or e.value = '""' and not (p_kind = 'basic' and e.key = 'password')
       or octet_length(e.value #>> '{}') > 16000
        or p_kind = 'basic' and e.key = 'username' and e.value #>> '{}' like '%:%'
        or e.value #>> '{}' ~ E'[\\x01-\\x1f\\x7f]'
     limit 1;
    if not found then
      hint := null;
    elsif reason like 'holds a control%' then
      hint := 'A secret is one line of text, without a line break at its end.';
    end if;
  end if;
end
$$;
comment on function postrider_internal.secrets_defect(text, text[], jsonb) is
  'why secrets are refused, by path and without quoting them, and a hint; nulls: valid';
