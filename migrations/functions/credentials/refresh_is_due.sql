-- SPDX-License-Identifier: Apache-2.0
-- Only after a failure is there a wait. One that began later than now did so before the clock was set back, and its wait would
-- be longer by as much.
create or replace function postrider.refresh_is_due(p_refresh postrider.refreshes, p_state text) returns boolean
language sql
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_refresh.until <= clock_timestamp(), true)
     and (p_state <> 'cooldown' or p_refresh.due_at <= clock_timestamp() or p_refresh.began_at > clock_timestamp())
$$;
comment on function postrider.refresh_is_due(postrider.refreshes, text) is
  'private: whether a worker may begin the refresh of a credential that is in this state, refreshing or cooldown';
