-- SPDX-License-Identifier: Apache-2.0
-- Refreshes caused by refused jobs are at least 30 s apart. The caller has locked the row of credentials.
create or replace function postrider_internal.postpone_refresh(p_credential text, p_forced_at timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update postrider.credentials c set state = 'cooldown' where c.name = p_credential;
  update postrider_internal.refreshes r
     set due_at = p_forced_at + interval '30 s', forced_at = p_forced_at + interval '30 s',
         epoch = 0, worker = 0, until = null, is_early = false, failures = 0,
         last_error = 'the API refused a token less than 30 s after a refresh; the next refresh waits until 30 s have passed'
   where r.credential = p_credential;
end
$$;
comment on function postrider_internal.postpone_refresh(text, timestamptz) is
  'lets all jobs of a credential wait until 30 s after its last forced refresh, and refreshes it then';
