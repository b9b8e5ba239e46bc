-- SPDX-License-Identifier: Apache-2.0
-- hold_gate: 1 is closed, 2 is open. Separate statements, because the tables must be read after the lock is taken. The
-- lock is free only if no transaction can still commit a row that must open the gate. claim checks the same conditions.
create or replace function postrider_internal.close_hold_gate() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (select g.last_value = 1 from postrider_internal.hold_gate g) then
    return;
  end if;
  if not pg_try_advisory_xact_lock(1886351474, 0) then
    return;
  end if;
  if not exists (select from postrider.lanes n where n.paused_until > now())
     and not exists (select from postrider.lanes n where n.max_in_flight is not null or n.rate_limit is not null)
     and not exists (select from postrider.queues q where q.paused)
     and not exists (select from postrider_internal.lane_pauses)
     and not exists (select from postrider.hooks) then
    perform setval('postrider_internal.hold_gate', 1);
  end if;
end
$$;
comment on function postrider_internal.close_hold_gate() is
  'leader: closes hold_gate when no limit, pause or hook exists or is about to be committed';
