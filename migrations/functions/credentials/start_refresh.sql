-- SPDX-License-Identifier: Apache-2.0
-- A compare-and-swap: of all sessions that find an ended token, one starts the refresh.
create or replace function postrider_internal.start_refresh(p_credential text, p_version bigint,
                                                            p_early boolean) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update postrider.credentials c set state = 'refreshing'
   where c.name = p_credential and c.version = p_version and c.state = 'active';
  if not found then
    return false;
  end if;
  update postrider_internal.refreshes r
     set epoch = 0, worker = 0, until = null, due_at = clock_timestamp(), is_early = p_early, failures = 0
   where r.credential = p_credential;
  perform pg_notify('postrider', 'credentials');
  return true;
end
$$;
comment on function postrider_internal.start_refresh(text, bigint, boolean) is
  'starts the refresh of an active credential in this version; p_early: the token is still valid; true: it started';
