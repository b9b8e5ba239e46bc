-- SPDX-License-Identifier: Apache-2.0
-- The gate is open before the row commits, so a claim that begins after the commit finds it open. The lock is shared by
-- all who write such rows, and held until they commit: while one may still commit, close_hold_gate leaves the gate as
-- it is.
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
  'statement trigger of lanes, lane_pauses, queues and hooks; opens hold_gate, so that claims look for what holds them back';

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
