-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.stored_plan(p_operation postrider.operations)
returns postrider_internal.operation_plans
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan postrider_internal.operation_plans := postrider_internal.operation_plan(p_operation);
begin
  v_plan.job := postrider_internal.plan_job(v_plan);
  return v_plan;
end
$$;
comment on function postrider_internal.stored_plan(postrider.operations) is
  'operation_plan with the columns in the types of jobs; the operation must be valid';
