-- SPDX-License-Identifier: Apache-2.0
-- Runs after the INSERT, which waits for a transaction that deletes the earlier row, so its version can be read. Rows
-- are locked in the same order as in a delete, the credential first.
--
-- It writes instead of only reading. A transaction with a snapshot from before that delete then gets a serialization
-- failure instead of a used version.
create or replace function postrider_internal.restore_credential_version() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_next bigint;
begin
  insert into postrider_internal.credential_versions as v (name, next) values (new.name, new.version)
      on conflict (name) do update set next = v.next
  returning next into v_next;
  if v_next > new.version then
    update postrider.credentials c set version = v_next where c.name = new.name;
  end if;
  return null;
end
$$;
comment on function postrider_internal.restore_credential_version() is
  'row trigger of credentials: gives a credential with a reused name a version that was never used';

create or replace trigger credentials_came
  after insert on postrider.credentials
  for each row execute function postrider_internal.restore_credential_version();
