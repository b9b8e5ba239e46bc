-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
create or replace function postrider_internal.prune_leftovers(p_limit int) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_range postrider_internal.prune_leftovers;
  v_table text;
  v_gone bigint;
  v_all bigint := 0;
begin
  select * into v_range from postrider_internal.prune_leftovers l order by l.first_id limit 1 for update skip locked;
  if not found then
    return 0;
  end if;
  foreach v_table in array postrider_internal.tables_of_jobs() loop
    execute format($q$
      delete from postrider_internal.%1$I d
       where d.ctid = any (array(
               select x.ctid from postrider_internal.%1$I x
                where x.job_id between $1 and $2 and not exists (select from postrider.jobs j
                                                                 where j.id = x.job_id) limit $3))
    $q$, v_table) using v_range.first_id, v_range.last_id, p_limit;
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
  end loop;
  if v_all = 0 then
    delete from postrider_internal.prune_leftovers l where l.first_id = v_range.first_id;
  end if;
  return v_all;
end
$$;
comment on function postrider_internal.prune_leftovers(int) is
  'deletes up to p_limit rows of each table that belong to jobs of dropped ranges; returns how many';
