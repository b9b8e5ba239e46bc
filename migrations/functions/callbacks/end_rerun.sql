-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.end_rerun(p_id bigint, p_state text, p_error text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into postrider_internal.callback_failures (job_id, event, callback, function, sqlstate, error)
  select p_id, c.event, c.callback, c.function, p_state, left(p_error, 2000)
    from postrider_internal.results r cross join lateral postrider_internal.callables(p_id, r.state, false) c
   where r.job_id = p_id and c.key = 'callback'
$$;
comment on function postrider_internal.end_rerun(bigint, text, text) is
  'records how the callback of a finished job failed when it was run again';
