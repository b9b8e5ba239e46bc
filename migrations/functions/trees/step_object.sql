-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- p_reads: the result of run_if_reads. Behind a filter or a wildcard the keys that run_if reads are unknown. Then all
-- parts with a name in p_keys are read. No other part is read, so unreadable JSON there causes no error.
create or replace function postrider_internal.step_object(p_job bigint, p_is_tree boolean, p_keys text[],
                                                          p_reads jsonb,
                                                          p_is_cheap_only boolean default false) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_open constant boolean := exists (select from jsonb_array_elements(p_reads) r
                                        where jsonb_typeof(r.value -> 0) = 'null');
  v_names constant text[] := array(select r.value ->> 0 from jsonb_array_elements(p_reads) r);
begin
  if not p_is_tree then
    return postrider_internal.answer_parts(p_job, array(
      select k from unnest('{body,status,headers,result}'::text[]) k
       where k = any (v_names) or v_is_open and (p_keys is null or k = any (p_keys))),
      p_is_cheap_only => p_is_cheap_only);
  end if;
  perform postrider_internal.leave_to_judging((
    select count(*) > 300 from (select from postrider_internal.members m where m.parent_id = p_job limit 301) m),
    p_is_cheap_only);
  return coalesce((
    select jsonb_object_agg(m.name, postrider_internal.step_object(m.job_id, m.is_tree, p_keys, (
             select jsonb_agg(case when jsonb_typeof(r.value -> 0) = 'null' then r.value else r.value - 0 end)
               from jsonb_array_elements(p_reads) r
                 where jsonb_typeof(r.value -> 0) = 'null' or r.value ->> 0 = m.name), p_is_cheap_only))
      from postrider_internal.member_states(p_job) m
     where (m.name = any (v_names) or v_is_open and (p_keys is null and m.name is not null or m.name = any (p_keys)))
       and (m.state = 's' or m.state = 'f' and m.status_code is not null and not m.is_tree)), '{}')
    || case when 'results' = any (v_names) or v_is_open and (p_keys is null or 'results' = any (p_keys))
            then jsonb_build_object('results', postrider_internal.tree_results(p_job, p_is_cheap_only)) else '{}' end;
end
$$;
comment on function postrider_internal.step_object(bigint, boolean, text[], jsonb, boolean) is
  'the parts of a finished step that run_if reads, as p_reads and p_keys say (p_keys null: all keys)';
