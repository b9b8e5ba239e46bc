-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Decides the end of a batch or chain, exactly once, and then ends all unfinished jobs below it. Jobs that are locked
-- at this moment or exceed p_limit are left to settle, which returns until none is left (is_draining). The transaction
-- that finished the last member must not end thousands of jobs. p_limit 0: all jobs below have ended.
--
-- p_is_inner: the caller counts the end in the parent, so this function returns the state and does not count it. It
-- returns null if conclude counts it, after callbacks or hooks.
create or replace function postrider_internal.end_tree(
  p_tree postrider_internal.trees, p_state "char", p_code text, p_error text, p_is_inner boolean default false,
  p_limit int default 500)
returns "char"
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_below record;
  v_has_callbacks boolean := p_tree.has_callbacks or exists (select from postrider.hooks)
    and postrider_internal.is_hooked(p_tree.job_id);
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
    select * into v_below from postrider_internal.end_descendants(p_tree.job_id, case
      when p_state = 'k' or p_tree.kind = 'c' and p_state = 'f' then 'k' else 'c' end::"char", p_limit);
    update postrider_internal.trees t
       set is_draining = v_below.remaining, released = t.released + v_below.released,
         finished = t.finished + v_below.ended,
           failed = t.failed + v_below.failed
     where t.job_id = p_tree.job_id;
  end if;
  perform postrider_internal.end_job(p_tree.job_id, p_state, p_code, p_error,
    case when v_has_callbacks or not p_is_inner then p_tree.parent_id end, v_has_callbacks,
    -- The tree was open, but no member has begun.
    p_started => case when p_state <> 'e' and (p_tree.run_at <= now()) is not false then p_tree.started_at end);
  if v_has_callbacks then
    -- Due after all jobs below it that ended in this transaction and are due now.
    update postrider_internal.outcomes o set due_at = o.due_at + (33 - p_tree.depth) * interval '1 us'
      where o.job_id = p_tree.job_id;
  end if;
  return case when p_is_inner and not v_has_callbacks then p_state end;
end
$$;
comment on function postrider_internal.end_tree(postrider_internal.trees, "char", text, text, boolean, int) is
  'ends a locked batch or chain and the jobs below it; returns its state if p_is_inner and the caller counts it';
