-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Decides the end of a batch or chain, exactly once, and then ends all unfinished jobs below it. Jobs that are locked
-- at this moment or exceed p_limit are left to settle, which returns until none is left (is_draining). The transaction
-- that finished the last member must not end thousands of jobs. p_limit 0: all jobs below have ended.
create or replace function postrider_internal.close_tree(
  p_tree postrider_internal.trees, p_state "char", p_code text, p_error text, p_limit int default 500)
returns "char"
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_error is null and p_state = 'f' then
    select format('member %s%s %s: %s', p_tree.failed_job_id, ' ' || quote_ident(j.name),
             case r.state when 'c' then 'was cancelled' when 'e' then 'expired' when 'u' then 'has an unknown outcome'
               else 'failed' end,
             r.error_code)
      into p_error
      from postrider.jobs j
      join (select e.job_id, e.state, e.error_code from postrider_internal.results e
            union all
            select o.job_id, o.state, o.error_code from postrider_internal.outcomes o) r on r.job_id = j.id
     where j.id = p_tree.failed_job_id;
    p_error := coalesce(p_error, 'a member failed');
  end if;
  update postrider_internal.trees t set state = p_state, is_expanding = false where t.job_id = p_tree.job_id;
  if p_limit > 0 then
    perform postrider_internal.end_descendants(p_tree, p_state, p_limit);
  end if;
  return postrider_internal.store_tree_end(p_tree, p_state, p_code, p_error);
end
$$;
comment on function postrider_internal.close_tree(postrider_internal.trees, "char", text, text, int) is
  'ends a locked batch or chain and the jobs below it; returns its state if the caller counts it';
