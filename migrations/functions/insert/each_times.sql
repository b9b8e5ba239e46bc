-- SPDX-License-Identifier: Apache-2.0
-- Leaves values that it cannot read to queue_new_jobs, which raises with their path. The times of members that expand
-- inserts were read when their batch was inserted.
create or replace function postrider_internal.each_times(p_each jsonb, p_parent bigint) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if (p_each -> 'do')::text ~ '"(run_at|expires_at)"' and not postrider_internal.is_being_expanded(p_parent) then
    return jsonb_set(p_each, '{do}', postrider_internal.spec_times(p_each -> 'do', false));
  end if;
  return p_each;
exception when others then
  return p_each;
end
$$;
comment on function postrider_internal.each_times(jsonb, bigint) is
  'a copy of each with the times in its "do" resolved in the time zone of the inserting session';
