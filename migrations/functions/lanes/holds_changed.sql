-- SPDX-License-Identifier: Apache-2.0
-- The gate opens before the row commits, so a claim that begins after the commit finds it open. All transactions that
-- write such rows share the lock and hold it until they commit. While one of them may still commit, close_hold_gate
-- leaves the gate open.
create or replace function postrider_internal.holds_changed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock_shared(1886351474, 0);
  if (select g.last_value = 1 from postrider_internal.hold_gate g) then
    perform setval('postrider_internal.hold_gate', 2);
  end if;
  return null;
end
$$;
comment on function postrider_internal.holds_changed() is
  'statement trigger of lanes, lane_pauses, queues and hooks: opens hold_gate, so that claims check limits and pauses';

create or replace trigger holds_changed
  after insert or update on postrider.lanes
  for each statement execute function postrider_internal.holds_changed();
create or replace trigger holds_changed
  after insert or update on postrider_internal.lane_pauses
  for each statement execute function postrider_internal.holds_changed();
create or replace trigger holds_changed
  after insert or update on postrider.queues
  for each statement execute function postrider_internal.holds_changed();
create or replace trigger holds_changed
  after insert or update on postrider.hooks
  for each statement execute function postrider_internal.holds_changed();
