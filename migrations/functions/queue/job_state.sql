-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- For views that show the state in each row. If PostgreSQL inlined job_status there, the cost estimate would trigger
-- JIT, which compiles the plan for seconds. With 200 schedules and ten million jobs the view took 2.2 s. In a trial
-- with a function that is not compiled it took 12 ms.
--
-- Strict, because a call takes 1 ms without a job too, and a schedule that has not run yet has none.
create or replace function postrider_internal.job_state(p_id bigint) returns text
language plpgsql stable strict
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select j.state from postrider.job_status j where j.id = p_id);
end
$$;
comment on function postrider_internal.job_state(bigint) is
  'the state of a job that the caller may see; null for any other job';
