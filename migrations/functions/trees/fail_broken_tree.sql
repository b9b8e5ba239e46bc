-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.fail_broken_tree(p_tree bigint, p_code text, p_error text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider_internal.trees;
begin
  select t.* into v_tree from postrider_internal.trees t
   where t.job_id = p_tree and postrider_internal.is_open_tree(t.state) for no key update skip locked;
  if found then
    perform postrider_internal.end_tree(v_tree, 'f', p_code, 'cannot continue: ' || p_error);
  end if;
exception when others then
  raise warning 'job % cannot continue and cannot be ended: % (%)', p_tree, p_error, sqlerrm;
end
$$;
comment on function postrider_internal.fail_broken_tree(bigint, text, text) is
  'fails a batch or chain that cannot be settled, so that settle does not repeat it endlessly';
