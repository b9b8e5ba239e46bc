-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.step_object(p_job bigint, p_is_tree boolean, p_keys text[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
begin
  if not p_is_tree then
    return postrider.answer_parts(p_job, array(
      select k from unnest('{body,status,headers,result}'::text[]) k where p_keys is null or k = any (p_keys)));
  end if;
  perform postrider.leave_to_judging((
    select count(*) > 300 from (select from postrider.members m where m.parent_id = p_job limit 301) m));
  return coalesce((
    select jsonb_object_agg(m.name, postrider.step_object(m.job_id, m.is_tree, p_keys))
      from postrider.member_states(p_job) m
     where (p_keys is null and m.name is not null or m.name = any (p_keys))
       and (m.state = 's' or m.state = 'f' and m.status_code is not null and not m.is_tree)), '{}')
    || case when p_keys is null or 'results' = any (p_keys)
            then jsonb_build_object('results', postrider.tree_results(p_job)) else '{}' end;
end
$$;
comment on function postrider.step_object(bigint, boolean, text[]) is
  'private: what run_if sees of a step that succeeded, or of a request that failed with an answer, as far as the keys given go (null: all)';
