-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- Uses SKIP LOCKED, because a user may lock the row. The probe then becomes void when its lease ends, and another
-- follows.
create or replace function postrider_internal.end_probe(p_server int, p_fence bigint, p_health "char") returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from postrider.servers s
   where s.id = p_server and s.state = 'probing' and s.probe_fence = p_fence for no key update skip locked;
  if not found then
    return;
  end if;
  update postrider.servers s
     set state = case when p_health = 'w' then 'active' else 'aside' end,
         open_until = clock_timestamp() + (select v.cool_down from postrider.services v where v.name = s.service),
         calls = s.calls + 1, errors = s.errors + 1
   where s.id = p_server;
end
$$;
comment on function postrider_internal.end_probe(int, bigint, "char") is
  'stores the result of a probe: w makes the server active with counters of zero, other values set it aside again';
