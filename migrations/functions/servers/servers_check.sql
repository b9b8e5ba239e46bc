-- SPDX-License-Identifier: Apache-2.0
-- Sets all columns that depend on the state, so a change by Postrider and a change by a user have the same effect.
create or replace function postrider_internal.servers_check() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column text;
  v_reason text;
  v_hint text;
begin
  select d.column_name, d.reason, d.hint into v_column, v_reason, v_hint from postrider_internal.server_defect(new) d;
  perform postrider_internal.raise_column_error('servers', v_column, v_reason, v_hint);
  if tg_op = 'UPDATE' and new.base_url <> old.base_url and new.state = old.state then
    -- Another machine: the state of the old one does not apply.
    new.state := 'active';
  end if;
  if new.state <> 'probing' then
    new.probe_track := null;
    new.probe_seq := null;
    new.probe_fence := null;
  end if;
  if new.state = 'active' then
    new.open_until := null;
    if tg_op = 'INSERT' or old.state <> 'active' or new.base_url <> old.base_url then
      new.calls := 0;
      new.errors := 0;
      new.recent_calls := 0;
      new.recent_errors := 0;
      new.window_began := clock_timestamp();
      new.since_fence := (select case when f.is_called then f.last_value else 0 end from postrider_internal.fences f);
    end if;
  elsif new.open_until is null then
    new.open_until := clock_timestamp() + (select s.cool_down from postrider.services s where s.name = new.service);
  end if;
  return new;
end
$$;
comment on function postrider_internal.servers_check() is
  'row trigger of servers: refuses invalid values by column, and resets counters when a server becomes active';

create or replace trigger servers_check
  before insert or update on postrider.servers
  for each row execute function postrider_internal.servers_check();
