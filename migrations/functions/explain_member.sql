-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.explain_member(p_job postrider.jobs) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider.trees;
  v_parent postrider.trees;
  v_member postrider.members;
  v_before record;
  v_open bigint;
  v_busy bigint;
  v_first bigint;
begin
  select * into v_member from postrider.members m where m.job_id = p_job.id;
  select * into v_tree from postrider.trees t where t.job_id = p_job.id;
  if v_tree.state = 'o' then
    v_open := greatest(v_tree.released - v_tree.finished, 0);
    v_busy := v_open;
    if v_open > 0 and v_tree.children <= 10000 and coalesce(v_tree.run_at <= now(), true) then
      select count(*) filter (where o.is_busy), min(o.job_id) filter (where not o.is_busy) into v_busy, v_first
        from (select m.job_id,
                     coalesce((select p.worker > 0 from postrider.ready_place(m.job_id) p), false)
                     or exists (select from postrider.outcomes e where e.job_id = m.job_id)
                     or exists (select from postrider.trees t where t.job_id = m.job_id and t.state = 'o') as is_busy
                from postrider.members m
               where m.parent_id = p_job.id and not m.is_waiting
                 and not exists (select from postrider.results r where r.job_id = m.job_id)
               order by m.position limit 1000) o;
      v_busy := least(v_busy, v_open);
    end if;
    return format('Job %s is %s: %s of the %s members that its %s has so far have ended, %s%s.', p_job.id,
      case when v_tree.run_at > now() then 'scheduled' else 'running' end, v_tree.finished, v_tree.children, p_job.kind,
      v_busy || ' are under way' || case when v_first is not null and v_open > v_busy then format(' and %s wait', v_open - v_busy) else '' end,
      case when v_tree.run_at > now() then format(', and none begins before %s', to_char(v_tree.run_at, 'YYYY-MM-DD HH24:MI:SS TZ')) else '' end)
      || case when v_first is not null and v_open > v_busy then ' ' || postrider.explain_any(v_first) else '' end;
  end if;
  if v_member.is_waiting is not true then
    return null;
  end if;
  select * into v_parent from postrider.trees t where t.job_id = v_member.parent_id;
  if v_parent.state = 'w' then
    return format('Job %s is waiting: the turn of %s %s, of which it is a part, has not come; see explain(%s).', p_job.id,
      postrider.kind_name(v_parent.kind), v_member.parent_id, v_member.parent_id);
  elsif v_parent.kind = 'b' and v_parent.max_parallel is null then
    return format('Job %s is waiting: it has just joined batch %s and is let go in a moment.', p_job.id, v_member.parent_id);
  elsif v_parent.kind = 'b' then
    return format('Job %s is waiting: batch %s runs %s member(s) at once (max_parallel), and others came first.', p_job.id,
      v_member.parent_id, v_parent.max_parallel);
  end if;
  select m.job_id, m.name into v_before
    from postrider.members m
   where m.parent_id = v_member.parent_id and m.position < v_member.position and not m.is_waiting
     and not exists (select from postrider.results r where r.job_id = m.job_id)
   order by m.position desc
   limit 1;
  return format('Job %s is waiting: it is step %s of chain %s, which is at job %s%s; see explain(%s).', p_job.id, v_member.position,
    v_member.parent_id, coalesce(v_before.job_id::text, 'none yet'), coalesce(' ' || quote_ident(v_before.name), ''),
    coalesce(v_before.job_id, v_member.parent_id));
end
$$;
comment on function postrider.explain_member(postrider.jobs) is
  'private: the sentence of explain for a batch, a chain, or a member whose turn has not come; null for others';
