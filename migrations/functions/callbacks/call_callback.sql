-- SPDX-License-Identifier: Apache-2.0
-- As the schema's owner, in a session of somebody else: it must not check what is deferred there (rerun_callback).
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
  'runs the callback of a finished job with the rights of the schema''s owner; the search path that it ran with. Its errors are not caught';
