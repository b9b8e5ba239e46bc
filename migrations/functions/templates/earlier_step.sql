-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Members of a batch run at the same time and never see each other. In a chain all steps before the job have ended. A
-- nearer step hides one with the same name further up.
create or replace function postrider_internal.earlier_step(
  p_job bigint, p_name text, out step bigint, out is_tree boolean, out state "char")
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job bigint := p_job;
  v_place record;
begin
  loop
    select m.parent_id, m.position,
           (select t.kind from postrider_internal.trees t where t.job_id = m.parent_id) as kind into v_place
      from postrider_internal.members m
     where m.job_id = v_job;
    exit when not found;
    if v_place.kind = 'c' and p_name = 'prev' then
      select m.job_id, m.is_tree, m.state into step, is_tree, state
        from postrider_internal.member_states(v_place.parent_id) m
       where m.position < v_place.position and m.state is distinct from 'k'
       order by m.position desc limit 1;
      exit when found;
    elsif v_place.kind = 'c' then
      select m.job_id, m.is_tree, m.state into step, is_tree, state
        from postrider_internal.member_states(v_place.parent_id) m
       where m.name = p_name and m.position < v_place.position;
      exit when found;
    end if;
    v_job := v_place.parent_id;
  end loop;
end
$$;
comment on function postrider_internal.earlier_step(bigint, text) is
  'the job that a name in the templates of a job means, including prev, and its state; nulls: none visible';
