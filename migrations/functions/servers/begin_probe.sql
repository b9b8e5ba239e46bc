-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- One call in the whole fleet probes a server. It has this right as long as it holds its lease. So when its worker dies
-- and is reaped, the right is free again. No timeout longer than the call is needed.
--
-- If another probe is in progress, this function must hold no lock. Otherwise the end of that probe would skip the row,
-- and the next probe would follow at once (seen on a slow disk, where a commit takes 50 ms). So the statement that
-- locks also checks the lease.
--
-- That statement may see an older state of ready than the last owner of the row lock. So the lease is checked again. If
-- it is found then, the end of the block releases the lock.
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
  'makes a claimed job the one call that probes a server; false if no probe is due or another call probes';
