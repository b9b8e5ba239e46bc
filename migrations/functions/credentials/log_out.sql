-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.log_out(credential text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.raise_null_argument('credential', log_out.credential is null,
                                                 'Give the name of a credential; see select name from postrider.credential_status.');
  perform from postrider.credentials c where c.name = log_out.credential for no key update;
  if not found then
    raise exception using errcode = 'PR001', schema = 'postrider', table = 'credentials', column = 'name',
      message = format('credentials.name: there is no credential %s', quote_literal(log_out.credential)),
      hint = 'Look it up in postrider.credential_status.';
  end if;
  perform postrider_internal.log_off(log_out.credential, null);
end
$$;
comment on function postrider.log_out(text) is
  'deletes the secrets of a credential; until the next login, jobs that need it end with not_logged_in';
