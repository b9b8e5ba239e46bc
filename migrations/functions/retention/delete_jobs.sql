-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- A user's table may have a foreign key to jobs or results. If the key has no rule for DELETE, its rows keep their
-- jobs. Such jobs are found by repeated halving, because one refused row rolls back the whole DELETE. Jobs of one root
-- stay together.
--
-- Rows are deleted from the partition itself, because refuse_job_changes refuses a DELETE on jobs.
create or replace function postrider_internal.delete_jobs(p_part text, p_ids bigint[],
                                                          p_roots bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table text;
  v_units bigint[];
  v_middle bigint;
begin
  begin
    foreach v_table in array postrider_internal.tables_of_jobs() loop
      execute format('delete from postrider_internal.%I d where d.job_id = any ($1)', v_table) using p_ids;
    end loop;
    execute format('delete from postrider_internal.results_%s r where r.job_id = any ($1)', p_part) using p_ids;
    execute format('delete from postrider_internal.jobs_%s j where j.id = any ($1)', p_part) using p_ids;
    return p_ids;
  exception when foreign_key_violation then
    v_units := array(select distinct coalesce(u.root, u.id) from unnest(p_ids, p_roots) u (id, root) order by 1);
  end;
  if cardinality(v_units) = 1 then
    return '{}';
  end if;
  v_middle := v_units[cardinality(v_units) / 2];
  return (select array_agg(f.id order by f.id)
            from (select unnest(postrider_internal.delete_jobs(p_part, array_agg(u.id), array_agg(u.root))) as id
                    from unnest(p_ids, p_roots) u (id, root)
                   group by coalesce(u.root, u.id) <= v_middle) f);
end
$$;
comment on function postrider_internal.delete_jobs(text, bigint[], bigint[]) is
  'deletes these jobs of a partition with all rows that belong to them, and returns the ids deleted';
