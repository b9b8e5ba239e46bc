-- SPDX-License-Identifier: Apache-2.0
-- Only the state cooldown waits for due_at. If the refresh began later than now, the clock was set back since. The wait
-- would be longer by that difference, so it ends at once.
create or replace function postrider_internal.is_refresh_due(p_refresh postrider_internal.refreshes,
                                                             p_state text) returns boolean
language sql
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_refresh.until <= clock_timestamp(), true)
     and (p_state <> 'cooldown' or p_refresh.due_at <= clock_timestamp() or p_refresh.began_at > clock_timestamp())
$$;
comment on function postrider_internal.is_refresh_due(postrider_internal.refreshes, text) is
  'whether a worker may start the refresh of a credential in this state, refreshing or cooldown';
