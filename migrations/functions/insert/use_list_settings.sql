-- SPDX-License-Identifier: Apache-2.0
-- For statements of queue_new_jobs over more than 256 rows: ids are grouped by hash in memory, and lanes are joined by
-- hash. They are no settings of queue_new_jobs itself, because each costs some microseconds, which every small INSERT
-- would pay too. The settings stay after this function, because it has no SET clause for them.
--
-- With custom plans, the values of the first row stand in the plan. A comparison of 100,000 rows with it is then 5 % of
-- the INSERT cheaper. Making such a plan takes up to 2 ms.
create or replace function postrider_internal.use_list_settings(p_with_custom_plans boolean) returns text[]
language plpgsql
as $$
declare
  v_former text[] := array[pg_catalog.current_setting('work_mem'), pg_catalog.current_setting('enable_sort'),
                           pg_catalog.current_setting('enable_nestloop'),
                           pg_catalog.current_setting('plan_cache_mode')];
begin
  perform pg_catalog.set_config('work_mem', '128MB', true), pg_catalog.set_config('enable_sort', 'off', true),
    pg_catalog.set_config('enable_nestloop', 'off', true);
  if p_with_custom_plans then
    perform pg_catalog.set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return v_former;
end
$$;
comment on function postrider_internal.use_list_settings(boolean) is
  'sets work_mem and planner settings for statements over large INSERTs; returns their former values';
