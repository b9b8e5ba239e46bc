-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Counts the rows again and gives the tree a new run number. So deltas of the run before that are not added yet have no
-- effect. Ends that wait in outcomes are counted when they are concluded, and would count in the new run. So all jobs
-- below must be concluded first.
create or replace function postrider_internal.reset_tree(p_id bigint, p_new_key boolean) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree postrider_internal.trees;
  v_member record;
  v_pending bigint;
  v_result postrider_internal.results;
  v_count int := 0;
begin
  select * into v_tree from postrider_internal.trees t where t.job_id = p_id for update;
  if v_tree.state = 's' and v_tree.mode = 'f'
    and exists (select from postrider_internal.results r where r.job_id = p_id) then
    return 0;
  end if;
  if postrider_internal.is_open_tree(v_tree.state) or v_tree.is_draining
     or not exists (select from postrider_internal.results r where r.job_id = p_id) then
    raise exception using errcode = 'PR005', message = format('job %s has not finished', p_id),
      hint = 'Only a finished job can be retried; see select postrider.explain(id).';
  end if;
  select m.job_id into v_pending
    from postrider_internal.members m
   where m.parent_id = p_id and exists (select from postrider_internal.outcomes o where o.job_id = m.job_id offset 0)
   limit 1;
  if found then
    raise exception using errcode = 'PR005',
      message = format('job %s, which is a part of it, has not finished', v_pending),
      hint = format('Its callbacks, hooks or notices have not run yet; see select postrider.explain(%s).', v_pending);
  end if;
  for v_member in
    select m.job_id, j.kind, j.expires_at, r.state
      from postrider_internal.members m
     cross join lateral (select x.kind, x.expires_at from postrider.jobs x where x.id = m.job_id offset 0) j
     cross join lateral (select x.state from postrider_internal.results x where x.job_id = m.job_id offset 0) r
     where m.parent_id = p_id
       -- A batch in mode settle has succeeded whatever its members did.
       and (r.state <> 's' or j.kind <> 'request')
     order by m.position
  loop
    if v_member.expires_at <= now() then
      -- Jobs that succeeded have not expired. If a chain or a batch needs this one, the others could not make it
      -- succeed.
      continue when v_member.state = 's' or v_tree.mode in ('s', 'f');
      raise exception using errcode = 'PR005',
        message = format('job %s, which is a part of it, expired at %s', v_member.job_id, v_member.expires_at),
        hint = 'Insert a new job with a later expires_at.';
    end if;
    if v_member.kind = 'request' then
      v_result := postrider_internal.reopen_job(v_member.job_id);
      delete from postrider_internal.filled_templates d where d.job_id = v_member.job_id;
      update postrider_internal.members m
         set is_waiting = true, attempt = v_result.attempt, rekey = v_result.rekey + p_new_key::int
       where m.job_id = v_member.job_id;
    else
      continue when postrider_internal.reset_tree(v_member.job_id, p_new_key) = 0;
      update postrider_internal.members m set is_waiting = true where m.job_id = v_member.job_id;
    end if;
    v_count := v_count + 1;
  end loop;
  if v_count = 0 and v_tree.state = 's' then
    return 0;
  end if;
  perform postrider_internal.reopen_job(p_id);
  update postrider_internal.trees t
     set state = 'w', run = t.run + 1, is_expanding = false, reached = -1, failed_job_id = null, started_at = null,
         (children, released, finished, succeeded, failed) = (
           select count(*), count(r.job_id), count(r.job_id), count(*) filter (where r.state = 's'),
                  count(*) filter (where postrider_internal.is_failed_member(r.state))
             from postrider_internal.members m
             left join lateral (select x.job_id, x.state from postrider_internal.results x
                                where x.job_id = m.job_id offset 0) r on true
            where m.parent_id = p_id)
   where t.job_id = p_id;
  return greatest(v_count, 1);
end
$$;
comment on function postrider_internal.reset_tree(bigint, boolean) is
  'makes unsuccessful members of a finished batch or chain wait again, to any depth; returns how many';
