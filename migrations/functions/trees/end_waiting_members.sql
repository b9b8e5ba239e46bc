-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Skips rows that other transactions lock. Batches and chains only leave their place; end_descendants ends them.
create or replace function postrider_internal.end_waiting_members(
  p_tree bigint, p_state "char", p_error text, p_limit int, out released int, out ended int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs bigint[];
  v_code constant text := case when p_state = 'c' then 'cancelled' end;
  v_has_hooks constant boolean := exists (select from postrider.hooks);
  v_has_limits constant boolean := exists (select from postrider.client_limits);
begin
  with held as materialized (
    select m.ctid as spot from postrider_internal.members m
      where m.parent_id = p_tree and m.is_waiting limit p_limit for update skip locked),
  freed as (
    update postrider_internal.members m set is_waiting = false from held h where m.ctid = h.spot
      returning m.job_id, m.attempt, m.rekey),
  ended_jobs as materialized (
    select f.*, j.kind, j.queue,
           postrider_internal.has_callbacks(j) or case when v_has_hooks then postrider_internal.is_hooked(f.job_id)
             else false end as needs_conclude
      from freed f cross join lateral (select x.* from postrider.jobs x where x.id = f.job_id offset 0) j),
  final as (
    insert into postrider_internal.results (job_id, attempt, rekey, state, error_code, error)
    select o.job_id, o.attempt, o.rekey, p_state, v_code, p_error from ended_jobs o
      where o.kind = 'request' and not o.needs_conclude),
  to_conclude as (
    insert into postrider_internal.outcomes (job_id, attempt, rekey, state, error_code, error, parent_id, is_swept)
    select o.job_id, o.attempt, o.rekey, p_state, v_code, p_error, p_tree, true from ended_jobs o
      where o.kind = 'request' and o.needs_conclude),
  tally as (
    insert into postrider_internal.job_deltas (tracks, states, jobs, queue, ended)
    select array[0], array[p_state], array[count(*)::int], o.queue, case when v_has_limits then array_agg(o.job_id) end
      from ended_jobs o where o.kind = 'request' group by o.queue)
  select count(*), count(*) filter (where o.kind = 'request' and not o.needs_conclude),
         array_agg(o.job_id) filter (where o.kind = 'request')
    into released, ended, v_jobs from ended_jobs o;
  if v_jobs is not null then
    perform postrider_internal.record_unreported_ends(v_jobs, array_fill(p_state, array[cardinality(v_jobs)]));
  end if;
end
$$;
comment on function postrider_internal.end_waiting_members(bigint, "char", text, int) is
  'ends up to p_limit waiting requests of an ended batch or chain; ended: how many count as ended now';
