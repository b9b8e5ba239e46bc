-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.explain_member(p_job postrider.jobs) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider_internal.trees;
  v_parent postrider_internal.trees;
  v_member postrider_internal.members;
  v_before record;
  v_children bigint;
  v_waiting bigint;
  v_deadline text;
  v_open bigint;                           -- released members that have not ended
  v_busy bigint;                           -- members with a call or an end in progress
  v_first bigint;                          -- the first open member that is not busy
begin
  select * into v_member from postrider_internal.members m where m.job_id = p_job.id;
  select * into v_tree from postrider_internal.trees t where t.job_id = p_job.id;
  if v_tree.state = 'o' then
    v_children := v_tree.children + coalesce((
      select sum(d.added) from postrider_internal.tree_deltas d where d.tree_id = p_job.id and d.run = v_tree.run
        and d.added > 0), 0);
    v_open := greatest(v_tree.released - v_tree.finished, 0);
    v_busy := case when v_tree.run_at > now() then 0 else v_open end;
    if v_busy > 0 and v_tree.children <= 10000 then
      select count(*) filter (where o.is_busy), min(o.job_id) filter (where not o.is_busy) into v_busy, v_first
        from (select m.job_id,
                     coalesce((select p.worker > 0 from postrider_internal.find_ready_row(m.job_id) p), false)
                     or exists (select from postrider_internal.outcomes e where e.job_id = m.job_id)
                     or exists (select from postrider_internal.trees t
                                where t.job_id = m.job_id and t.state = 'o') as is_busy
                from postrider_internal.members m
               where m.parent_id = p_job.id and not m.is_waiting
                 and not exists (select from postrider_internal.results r where r.job_id = m.job_id offset 0)
               order by m.position limit 1000) o;
      v_busy := least(v_busy, v_open);
    end if;
    -- Released members without a call in progress, and members whose turn has not come.
    v_waiting := v_children - v_tree.finished - v_busy;
    return format('Job %s is %s: %s of the %s members of this %s have ended so far, %s%s.', p_job.id,
      case when v_tree.run_at > now() then 'scheduled' else 'running' end, v_tree.finished, v_children, p_job.kind,
      v_busy || ' are under way' || case when v_waiting > 0 then format(' and %s wait', v_waiting) else '' end,
      case when v_tree.run_at > now()
        then format(', and none begins before %s', to_char(v_tree.run_at, 'YYYY-MM-DD HH24:MI:SS TZ')) else '' end)
      || case when v_first is not null and v_open > v_busy then ' ' || postrider_internal.explain_any(v_first)
        else '' end;
  end if;
  if v_member.is_waiting is not true then
    return null;
  end if;
  select * into v_parent from postrider_internal.trees t where t.job_id = v_member.parent_id;
  v_deadline := (
    select format(case when d.expires_at <= now()
                  then '; its expires_at, %s, has passed, so it ends as expired when its turn comes'
                       else '; it ends as expired if its turn comes after its expires_at, %s' end,
                  to_char(d.expires_at, 'YYYY-MM-DD HH24:MI:SS TZ'))
      from (select least(p_job.expires_at, v_parent.expires_at) as expires_at) d
     where isfinite(d.expires_at));
  if v_parent.state = 'w' then
    return format('Job %s is waiting: it is part of %s %s, which has not begun; see explain(%s)%s.',
                  p_job.id,
      postrider_internal.kind_name(v_parent.kind), v_member.parent_id, v_member.parent_id, v_deadline);
  elsif v_parent.kind = 'b' and v_parent.max_parallel is null then
    return format('Job %s is waiting: it has just joined batch %s and is released in a moment%s.', p_job.id,
                  v_member.parent_id, v_deadline);
  elsif v_parent.kind = 'b' then
    -- Without `offset 0`, PostgreSQL would read all scheduled jobs into a hash table.
    if v_parent.children <= 10000 then
      select nullif(count(*), 0) into v_waiting
        from postrider_internal.members m
       where m.parent_id = v_member.parent_id and not m.is_waiting
         and (exists (select from postrider_internal.scheduled s where s.job_id = m.job_id offset 0)
              or exists (select from postrider_internal.trees t
                         where t.job_id = m.job_id and t.state = 'o' and t.run_at > now() offset 0));
    end if;
    return format('Job %s is waiting: batch %s runs %s member(s) at once (max_parallel), and others came first%s%s.',
                  p_job.id,
      v_member.parent_id, v_parent.max_parallel,
      format(case when v_waiting is null then ''
             else '; %s of these keep(s) a place while waiting for a run_at or a retry' end, v_waiting),
      v_deadline);
  end if;
  select m.job_id, m.name into v_before
    from postrider_internal.members m
   where m.parent_id = v_member.parent_id and m.position < v_member.position and not m.is_waiting
     and not exists (select from postrider_internal.results r where r.job_id = m.job_id offset 0)
   order by m.position desc
   limit 1;
  return format('Job %s is waiting: it is step %s of chain %s, which is at %s%s; see explain(%s)%s.', p_job.id,
                v_member.position,
    v_member.parent_id, coalesce('job ' || v_before.job_id, 'no job yet'),
    coalesce(' ' || quote_ident(v_before.name), ''),
    coalesce(v_before.job_id, v_member.parent_id), v_deadline);
end
$$;
comment on function postrider_internal.explain_member(postrider.jobs) is
  'the sentence of explain for a batch, a chain, or a member whose turn has not come; null for other jobs';
