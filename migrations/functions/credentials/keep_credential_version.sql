-- SPDX-License-Identifier: Apache-2.0
-- Calls and refreshes of a deleted credential may still be in progress, and they know it by name and version. So the
-- next credential with this name continues with the next version (restore_credential_version).
create or replace function postrider_internal.keep_credential_version() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'TRUNCATE' then
    insert into postrider_internal.credential_versions as v (name, next)
    select c.name, least(c.version, 9223372036854775806) + 1 from postrider.credentials c order by c.name
        on conflict (name) do update set next = greatest(v.next, excluded.next);
    perform postrider_internal.release_credential_waits(c.name, false) from postrider.credentials c;
    return null;
  end if;
  insert into postrider_internal.credential_versions as v (name, next) values (old.name,
      least(old.version, 9223372036854775806) + 1)
      on conflict (name) do update set next = greatest(v.next, excluded.next);
  perform postrider_internal.release_credential_waits(old.name, false);
  return null;
end
$$;
comment on function postrider_internal.keep_credential_version() is
  'trigger of credentials: keeps versions of a deleted credential from reuse, and releases jobs that wait for it';

create or replace trigger credentials_gone
  after delete on postrider.credentials
  for each row execute function postrider_internal.keep_credential_version();

create or replace trigger credentials_truncate
  before truncate on postrider.credentials
  for each statement execute function postrider_internal.keep_credential_version();
