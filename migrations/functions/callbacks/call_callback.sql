-- SPDX-License-Identifier: Apache-2.0
-- Runs as the owner of the schema in a session of another role. So it must not check deferred constraints there
-- (rerun_callback).
create or replace function postrider_internal.call_callback(p_id bigint) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v record;
  v_found record;
begin
  select c.callback, c.function into v
    from postrider_internal.results r cross join lateral postrider_internal.callables(p_id, r.state, false) c
   where r.job_id = p_id and c.key = 'callback';
  v_found := postrider_internal.registered_callable(v.callback, v.function, 'bigint');
  perform pg_catalog.set_config('search_path', v_found.path, true);
  execute format('select %s($1)', v_found.call) using p_id;
  return v_found.path;
end
$$;
comment on function postrider_internal.call_callback(bigint) is
  'runs the callback of a finished job as the owner of the schema without catching errors; returns its search path';
