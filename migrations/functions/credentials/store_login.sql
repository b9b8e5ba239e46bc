-- SPDX-License-Identifier: Apache-2.0
-- Lock order for credentials: rows of credentials by name, then their rows in the other tables, then ready and
-- scheduled.
create or replace function postrider_internal.store_login(
  p_credential text, p_names text[], p_sealed bytea, p_plain jsonb, p_expires_at timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_credential postrider.credentials;
  v_defect record;
begin
  select * into v_credential from postrider.credentials c where c.name = p_credential for no key update;
  if not found then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'credentials', column = 'name',
      message = format('credentials.name: there is no credential %s', quote_literal(p_credential)),
      hint = 'Insert it into postrider.credentials first.';
  end if;
  select * into v_defect from postrider_internal.secrets_defect(v_credential.kind, p_names, p_plain);
  if v_defect.reason is not null then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'secrets', column = 'secrets',
      message = format('secrets: %s %s', v_defect.place, v_defect.reason), hint = v_defect.hint;
  end if;
  if v_credential.kind = 'oauth2_refresh_token' and v_credential.client_id is null
    and 'client_secret' = any (p_names) then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'secrets', column = 'secrets',
      message = 'secrets: $.client_secret would never be sent, since the credential has no client_id',
      hint = 'Set credentials.client_id first, or leave client_secret out.';
  end if;
  perform postrider_internal.forget_credential_user(p_credential);
  update postrider.credentials c
     set state = 'active', version = c.version + 1, expires_at = case when isfinite(p_expires_at) then p_expires_at end
   where c.name = p_credential
  returning * into v_credential;
  insert into postrider_internal.secrets (credential, version, sealed, plain, has_token)
  values (p_credential, v_credential.version, p_sealed, p_plain,
          v_credential.kind = 'basic' or p_names && array['access_token', 'api_key']);
  perform postrider_internal.release_credential_waits(p_credential, false);
  perform pg_notify('postrider', 'credentials');
end
$$;
comment on function postrider_internal.store_login(text, text[], bytea, jsonb, timestamptz) is
  'stores new secrets of a credential, sealed or plain, and makes it active';
