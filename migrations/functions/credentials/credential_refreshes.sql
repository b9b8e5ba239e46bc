-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.credential_refreshes(p_kind text) returns boolean
language sql immutable parallel safe
as $$
  select p_kind in ('oauth2_client_credentials', 'oauth2_refresh_token', 'custom')
$$;
comment on function postrider_internal.credential_refreshes(text) is
  'whether credentials of this kind are refreshed; other kinds last until the next login';
