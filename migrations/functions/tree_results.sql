-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.tree_results(p_tree bigint) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
begin
  if (select sum(coalesce(pg_column_size(r.result), octet_length(r.body)))
        from postrider.members m join postrider.results r on r.job_id = m.job_id
       where m.parent_id = p_tree and r.state = 's') > 16777216 then
    raise exception using errcode = 'PR009',
      message = format('the results of the members of job %s are larger than 16 MiB together; give the members an extract', p_tree);
  end if;
  return (
    select coalesce(jsonb_agg(case when t.job_id is not null then postrider.tree_results(m.job_id)
                                   else postrider.answer_parts(m.job_id, '{result}') -> 'result' end order by m.position), '[]')
      from postrider.members m
      left join postrider.trees t on t.job_id = m.job_id
     where m.parent_id = p_tree);
end
$$;
comment on function postrider.tree_results(bigint) is
  'private: the results of the members of a batch or chain, in the order of their positions; null for one that has none, a list for a batch or chain';
