-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- For views that show it of each of their rows: inlined there, job_status has a cost from which PostgreSQL compiles the
-- plan for seconds. 200 schedules beside ten million jobs took 2.2 s; behind a function that is not compiled, 12 ms in
-- a trial.
create or replace function postrider_internal.job_state(p_id bigint) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select j.state from postrider.job_status j where j.id = p_id);
end
$$;
comment on function postrider_internal.job_state(bigint) is
  'the state of a job that the caller may see; null for any other';
