-- SPDX-License-Identifier: Apache-2.0
-- Only after a failure is there a wait. One that began later than now did so before the clock was set back, and its
-- wait would be longer by as much.
create or replace function postrider_internal.refresh_is_due(p_refresh postrider_internal.refreshes,
                                                             p_state text) returns boolean
language sql
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_refresh.until <= clock_timestamp(), true)
     and (p_state <> 'cooldown' or p_refresh.due_at <= clock_timestamp() or p_refresh.began_at > clock_timestamp())
$$;
comment on function postrider_internal.refresh_is_due(postrider_internal.refreshes, text) is
  'whether a worker may begin the refresh of a credential that is in this state, refreshing or cooldown';
