-- SPDX-License-Identifier: Apache-2.0
-- What cannot be read is left to queue_new_jobs, which refuses it by its place; and what expand inserts was read when
-- its batch was inserted.
create or replace function postrider_internal.each_times(p_each jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('postrider.expands', true) is distinct
    from 'on' and (p_each -> 'do')::text ~ '"(run_at|expires_at)"' then
    return jsonb_set(p_each, '{do}', postrider_internal.spec_times(p_each -> 'do', false));
  end if;
  return p_each;
exception when others then
  return p_each;
end
$$;
comment on function postrider_internal.each_times(jsonb) is
  'an each in which the times of what it makes mean what they mean to whoever inserts it';
