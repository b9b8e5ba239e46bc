-- SPDX-License-Identifier: Apache-2.0
-- Keys that follow a DELETE (cascade, set null, set default) hold nothing. The others are looked up here, since one row that refuses to go
-- would undo the step for all. A key of several columns, or onto another column than the id, holds nothing that could be told.
create or replace function postrider.referenced_jobs(p_ids bigint[]) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set row_security = off
as $$
declare
  v_key record;
  v_some bigint[];
  v_ids bigint[] := '{}';
begin
  for v_key in
    select c.conrelid::regclass as source, a.attname as field
      from pg_constraint c
      join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.confrelid = 'postrider.jobs'::regclass and c.contype = 'f' and c.conparentid = 0 and c.confdeltype in ('a', 'r')
       and cardinality(c.conkey) = 1
  loop
    begin
      execute format('select array_agg(distinct t.%I) from %s t where t.%1$I = any ($1)', v_key.field, v_key.source) into v_some using p_ids;
    exception when insufficient_privilege then
      raise insufficient_privilege using
        message = format('no job is forgotten, since table %s has a foreign key onto postrider.jobs and %s may not see which it holds: grant select on %1$s to %2$s',
          v_key.source, current_user),
        hint = 'Or make the key "on delete set null" or "on delete cascade".';
    end;
    v_ids := v_ids || coalesce(v_some, '{}');
  end loop;
  return v_ids;
end
$$;
comment on function postrider.referenced_jobs(bigint[]) is
  'private: those of the jobs given that a foreign key of a user''s table keeps from being deleted';
