-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
create or replace function postrider_internal.tree_results(p_tree bigint,
                                                           p_is_cheap_only boolean default false) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.leave_to_judging((
    select count(*) > 300 or sum(r.size) > 65536
      from postrider_internal.members m
      left join lateral (
           select coalesce(pg_column_size(r.result), octet_length(r.body)) as size
             from postrider_internal.results r where r.job_id = m.job_id and r.state = 's' offset 0) r on true
     where m.parent_id = p_tree), p_is_cheap_only);
  if (select sum(r.size)
        from postrider_internal.members m
       cross join lateral (
             select coalesce(pg_column_size(r.result), octet_length(r.body)) as size
               from postrider_internal.results r where r.job_id = m.job_id and r.state = 's' offset 0) r
       where m.parent_id = p_tree) > 16777216 then
    raise exception using errcode = 'PR009',
      message = format('the results of the members of job %s are larger than 16 MiB together; give the members an extract', p_tree);
  end if;
  return (
    select coalesce(jsonb_agg(case when m.is_tree then postrider_internal.tree_results(m.job_id, p_is_cheap_only)
                                   else postrider_internal.answer_parts(
                                     m.job_id, '{result}', p_is_cheap_only => p_is_cheap_only) -> 'result' end
                                     order by m.position), '[]')
      from postrider_internal.member_states(p_tree) m);
end
$$;
comment on function postrider_internal.tree_results(bigint, boolean) is
  'the results of the members of a batch or chain by position; null: no result; a list for a batch or chain';
