-- SPDX-License-Identifier: Apache-2.0
-- One call in the whole fleet probes a server. It holds that right as long as it holds its lease, so the death of its
-- worker frees it when the worker is reaped, and no clock has to be longer than the call.
--
-- Who finds a probe under way takes no lock: the end of that probe would pass over the row.
--
-- The row is locked in a statement of its own: what the next one sees of ready is then younger than whoever held it before.
create or replace function postrider.begin_probe(p_server int, p_track int, p_seq bigint, p_fence bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_server postrider.servers;
begin
  if exists (
       select from postrider.server_routes t
         join postrider.ready r on r.track = t.probe_track and r.seq = t.probe_seq and r.fence = t.probe_fence and r.worker > 0
        where t.id = p_server) then
    return false;
  end if;
  select * into v_server from postrider.servers s
   where s.id = p_server and s.state <> 'active' and s.open_until <= clock_timestamp()
     for no key update skip locked;
  if not found or exists (
       select from postrider.ready r
        where r.track = v_server.probe_track and r.seq = v_server.probe_seq and r.fence = v_server.probe_fence and r.worker > 0) then
    return false;
  end if;
  update postrider.servers s
     set state = 'probing', probe_track = p_track, probe_seq = p_seq, probe_fence = p_fence
   where s.id = p_server;
  return true;
end
$$;
comment on function postrider.begin_probe(int, int, bigint, bigint) is
  'private: makes a claimed job the one call that probes a server; false if it is not due or another call does';
