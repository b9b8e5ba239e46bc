-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- One call in the whole fleet probes a server. It holds that right as long as it holds its lease, so the death of its
-- worker frees it when the worker is reaped, and no clock has to be longer than the call.
--
-- Who finds a probe under way holds no lock: the end of that probe would pass over the row, and another one follow at
-- once (seen on a busy disk, where a commit takes 50 ms). So the look at its lease is part of the statement that locks.
--
-- What that statement sees of ready may be older than whoever held the row before, so there is a second look; what is
-- found then is let go with the block.
create or replace function postrider_internal.begin_probe(p_server int, p_track int, p_seq bigint,
                                                          p_fence bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_server postrider.servers;
begin
  begin
    select * into v_server from postrider.servers s
     where s.id = p_server and s.state <> 'active' and s.open_until <= clock_timestamp()
       and not exists (
             select from postrider_internal.ready r
              where r.track = s.probe_track and r.seq = s.probe_seq and r.fence = s.probe_fence and r.worker > 0)
       for no key update skip locked;
    if not found then
      return false;
    elsif exists (
         select from postrider_internal.ready r
          where r.track = v_server.probe_track and r.seq = v_server.probe_seq and r.fence = v_server.probe_fence
            and r.worker > 0) then
      raise exception using errcode = 'PR005', message = 'another call has just begun to probe';
    end if;
  exception when sqlstate 'PR005' then
    return false;
  end;
  update postrider.servers s
     set state = 'probing', probe_track = p_track, probe_seq = p_seq, probe_fence = p_fence
   where s.id = p_server;
  return true;
end
$$;
comment on function postrider_internal.begin_probe(int, int, bigint, bigint) is
  'makes a claimed job the one call that probes a server; false if it is not due or another call does';
