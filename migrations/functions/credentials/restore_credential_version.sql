-- SPDX-License-Identifier: Apache-2.0
-- After the insert, which waits for a transaction that is deleting the one before it: so that one's version is there to
-- be read. Rows are locked in the order of a delete, the credential first. Written and not just read: in a transaction
-- with a snapshot from before that delete it is a serialization failure then, and no version that was used already.
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
  'row trigger of credentials; one whose name was there before goes on with a version that was never used';

create or replace trigger credentials_came
  after insert on postrider.credentials
  for each row execute function postrider_internal.restore_credential_version();
