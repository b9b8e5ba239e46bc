-- SPDX-License-Identifier: Apache-2.0
-- A member that is refused ends its batch, not the transaction in which the step before has finished. A shortage of the database
-- says nothing of the member and is raised.
create or replace function postrider.expand_defect(p_batch bigint, p_items jsonb) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider.expand(p_batch, p_items);
  return null;
exception when others then
  if postrider.is_shortage(sqlstate) then
    raise;
  end if;
  return sqlerrm;
end
$$;
comment on function postrider.expand_defect(bigint, jsonb) is
  'private: makes the members that each asks for; null, or the sentence that says why one of them was refused';
