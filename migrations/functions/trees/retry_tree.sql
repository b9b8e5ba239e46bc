-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
create or replace function postrider_internal.retry_tree(p_id bigint, p_new_key boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if postrider_internal.reset_tree(p_id, p_new_key) = 0 then
    raise exception using errcode = 'PR005',
      message = format('nothing in job %s can run again: it has succeeded, and a retry would change nothing',
                       p_id),
      hint = 'To run it again, insert a new job.';
  end if;
  -- Runs at once, even if its run_at lies in the future.
  if (select t.run_at > now() from postrider_internal.trees t where t.job_id = p_id) then
    perform postrider_internal.reschedule_tree(p_id, now());
  end if;
  perform postrider_internal.advance_tree(t, 'due', 'client') from postrider_internal.trees t where t.job_id = p_id;
end
$$;
comment on function postrider_internal.retry_tree(bigint, boolean) is
  'runs the unsuccessful members of a batch or chain without parent again';
