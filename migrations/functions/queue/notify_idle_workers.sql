-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.notify_idle_workers(p_payload text default '') returns void
language plpgsql
as $$
begin
  if (select g.last_value from postrider_internal.idle_gate g) = 2 then
    perform pg_notify('postrider', p_payload);
  end if;
end
$$;
comment on function postrider_internal.notify_idle_workers(text) is
  'notifies idle workers to claim jobs (made: on tracks that jobs waited for); sends nothing if no worker is idle';
