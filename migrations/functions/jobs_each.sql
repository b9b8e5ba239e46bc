-- SPDX-License-Identifier: Apache-2.0
-- Before the row, which never changes once it is there. What cannot be read is left to jobs_feed, which refuses it by its place; and
-- what expand inserts was read when its batch was inserted.
create or replace function postrider.jobs_each() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('postrider.expands', true) is distinct from 'on' and (new.each -> 'do')::text ~ '"(run_at|expires_at)"' then
    begin
      new.each := jsonb_set(new.each, '{do}', postrider.spec_times(new.each -> 'do', false));
    exception when others then
      null;
    end;
  end if;
  return new;
end
$$;
comment on function postrider.jobs_each() is
  'private: row trigger of jobs with an each; times in what it makes mean what they mean to whoever inserts it';

create or replace trigger jobs_each
  before insert on postrider.jobs
  for each row when (new.each is not null) execute function postrider.jobs_each();
