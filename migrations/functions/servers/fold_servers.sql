-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- The leader adds up server_deltas once a second. A finish with errors reads the deltas of its servers, and changes a
-- row only if the server must be set aside. No session waits: a locked row is left for the next run.
--
-- Only the holder of the server's row deletes its deltas, so none counts twice. Deleted rows are dead, and while a
-- transaction stays open for hours they cost time. So the scan starts near the last id,
-- unless p_is_full.
create or replace function postrider_internal.fold_servers(p_now timestamptz, p_server int[],
                                                           p_is_full boolean) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from bigint := case when p_is_full then 0 else
    (select q.last_value - case when p_server is null then 20000 else 2000 end
     from postrider_internal.server_deltas_id_seq q) end;
  v_new record;
  v_server postrider.servers;
  v_service postrider.services;
  v_calls bigint;
  v_errors bigint;
  v_set_aside int := 0;
begin
  for v_new in
    select t.server, sum(t.calls)::bigint as calls, sum(t.errors)::bigint as errors
      from postrider_internal.server_deltas t
     where t.id > v_from and (p_server is null or t.server = any (p_server))
     group by t.server order by t.server
  loop
    select * into v_server from postrider.servers s where s.id = v_new.server;
    if not found or p_server is null and v_server.state <> 'active' then
      -- These deltas do not count. A row that is not active is not locked here, because the end of its probe would skip
      -- it.
      delete from postrider_internal.server_deltas t where t.id > v_from and t.server = v_new.server;
      continue;
    end if;
    select * into v_service from postrider.services s where s.name = v_server.service;
    continue when p_server is not null
      and (v_server.state <> 'active'
           or (postrider_internal.update_server_state(v_server, v_service, v_new.calls, v_new.errors, p_now)).state
             = 'active');
    select * into v_server from postrider.servers s where s.id = v_new.server for no key update skip locked;
    continue when not found;
    with gone as (
      delete from postrider_internal.server_deltas t where t.id > v_from and t.server = v_new.server
        returning t.calls, t.errors)
    select sum(g.calls), sum(g.errors) into v_calls, v_errors from gone g;
    continue when v_calls is null or v_server.state <> 'active';
    v_server := postrider_internal.update_server_state(v_server, v_service, v_calls, v_errors, p_now);
    update postrider.servers s
       set state = v_server.state, open_until = v_server.open_until, calls = v_server.calls, errors = v_server.errors,
           recent_calls = v_server.recent_calls, recent_errors = v_server.recent_errors,
           window_began = v_server.window_began
     where s.id = v_server.id;
    v_set_aside := v_set_aside + (v_server.state = 'aside')::int;
  end loop;
  return v_set_aside;
end
$$;
comment on function postrider_internal.fold_servers(timestamptz, int[], boolean) is
  'adds results of calls to their servers (null: all) and sets aside those that fail too often; returns how many';
