-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- Part of finish, for batches in which a server was called. health: w the server answered · f failure of the network,
-- or 502, 503 or 504 · x neither, such as an own error or a certificate · null: the call did not end.
--
-- A batch with errors checks at once whether they are too many, because a failing server must not get calls for another
-- second.
create or replace function postrider_internal.record_server_calls(p_attempts postrider_internal.finished_attempt[],
                                                                  p_done bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_probe record;
  v_failing int[];
begin
  with counted as (
    insert into postrider_internal.server_deltas (server, calls, errors)
    select t.id, count(*), count(*) filter (where x.health = 'f')
      from unnest(p_attempts) x
      join postrider_internal.server_routes t on t.id = x.server
     where x.health in ('w', 'f') and x.seq = any (p_done) and t.state = 'active' and x.fence > t.since_fence
     group by t.id
    returning server, errors)
  select array_agg(o.server) filter (where o.errors > 0) into v_failing from counted o;
  for v_probe in
    select t.id, x.fence, x.health
      from unnest(p_attempts) x
      join postrider_internal.server_routes t on t.id = x.server
     where x.health is not null and x.seq = any (p_done) and t.state = 'probing' and t.probe_seq = x.seq
       and t.probe_fence = x.fence
     order by t.id
  loop
    perform postrider_internal.end_probe(v_probe.id, v_probe.fence, v_probe.health);
  end loop;
  if v_failing is not null then
    perform postrider_internal.fold_servers(clock_timestamp(), v_failing, false);
  end if;
end
$$;
comment on function postrider_internal.record_server_calls(postrider_internal.finished_attempt[], bigint[]) is
  'counts results of calls for their servers, ends probes, and checks servers that failed';
