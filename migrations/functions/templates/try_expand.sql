-- SPDX-License-Identifier: Apache-2.0
-- If a member is refused, its batch fails, not the transaction in which the step before has finished. A shortage of the
-- database says nothing about the member and is raised.
create or replace function postrider_internal.try_expand(p_batch bigint, p_items jsonb) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.expand(p_batch, p_items);
  return null;
exception when others then
  if postrider_internal.is_shortage(sqlstate) then
    raise;
  end if;
  return sqlerrm;
end
$$;
comment on function postrider_internal.try_expand(bigint, jsonb) is
  'inserts the members of a batch over a list; null, or the reason why one was refused';
