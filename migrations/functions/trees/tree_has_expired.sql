-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan
-- Called when a batch or chain is about to end for another reason. A job has begun if it was called, is being called or
-- will be retried. An unfinished batch or chain inside has begun too.
create or replace function postrider_internal.tree_has_expired(p_tree postrider_internal.trees) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_tree.expires_at is null or p_tree.expires_at > now() or p_tree.failed = 0 or p_tree.succeeded > 0 then
    return false;
  end if;
  return not exists (
    select from postrider_internal.members m
      left join lateral (
           select r.job_id, r.started_at from postrider_internal.results r where r.job_id = m.job_id
            union all
           select o.job_id, o.started_at from postrider_internal.outcomes o where o.job_id = m.job_id
            limit 1) e on true
     where m.parent_id = p_tree.job_id and not m.is_waiting
       and case
             when e.job_id is not null then e.started_at is not null
             else exists (select from postrider_internal.trees t where t.job_id = m.job_id)
               or exists (select from postrider_internal.past_attempts a where a.job_id = m.job_id)
               or exists (select from postrider_internal.ready y
                           where y.job_id = m.job_id and y.seq <> y.job_id and (y.worker > 0 or y.attempt > 0))
               or exists (select from postrider_internal.scheduled s where s.job_id = m.job_id and s.attempt > 0) end);
end
$$;
comment on function postrider_internal.tree_has_expired(postrider_internal.trees) is
  'whether expires_at has passed before any call below a batch or chain began, so that it expires in every mode';
