-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.wake() returns void
language plpgsql
as $$
begin
  if (select g.last_value from postrider.idle_gate g) = 2 then
    perform pg_notify('postrider', '');
  end if;
end
$$;
comment on function postrider.wake() is 'private: tells idle workers to look for jobs; while none is idle it tells nobody';
