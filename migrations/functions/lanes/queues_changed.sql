-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.queues_changed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.notify_idle_workers();
  return null;
end
$$;
comment on function postrider_internal.queues_changed() is
  'statement trigger of queues: notifies idle workers, because a queue may run again';

create or replace trigger queues_changed
  after update or delete on postrider.queues
  for each statement execute function postrider_internal.queues_changed();
