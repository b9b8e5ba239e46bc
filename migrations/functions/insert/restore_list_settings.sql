-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.restore_list_settings(p_former text[]) returns void
language plpgsql
as $$
begin
  perform pg_catalog.set_config('work_mem', p_former[1], true), pg_catalog.set_config('enable_sort', p_former[2], true),
    pg_catalog.set_config('enable_nestloop', p_former[3], true),
    pg_catalog.set_config('plan_cache_mode', p_former[4], true);
end
$$;
comment on function postrider_internal.restore_list_settings(text[]) is
  'sets the values that use_list_settings returned';
