-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.credentials_gone() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider.credential_release(old.name, false);
  return null;
end
$$;
comment on function postrider.credentials_gone() is
  'private: row trigger of credentials; jobs that wait for a refresh of one that is deleted go on, and end with what that means for them';

create or replace trigger credentials_gone
  after delete on postrider.credentials
  for each row execute function postrider.credentials_gone();
