-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, nested-loops
-- For attempts that end within another statement of a worker, such as prepare. The worker does not read how they end,
-- so the leader counts them in its metrics.
create or replace function postrider_internal.finish_unreported(
  p_worker int, p_attempts postrider_internal.finished_attempt[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seqs bigint[];
  v_jobs bigint[];
  v_done bigint[];
  v_outcomes text;
begin
  select array_agg(r.seq), array_agg(r.job_id) into v_seqs, v_jobs
    from unnest(p_attempts) x
   cross join lateral (select y.seq, y.job_id from postrider_internal.ready y
                        where y.track = x.track and y.seq = x.seq offset 0) r;
  select f.done, f.outcomes into v_done, v_outcomes from postrider_internal.finish(p_worker, p_attempts, false) f;
  perform postrider_internal.record_unreported_ends(array_agg(j.job_id), array_agg(d.outcome::"char"))
     from unnest(v_done, string_to_array(v_outcomes, null)) as d (seq, outcome)
     join unnest(v_seqs, v_jobs) as j (seq, job_id) on j.seq = d.seq
    where postrider_internal.is_final_outcome(d.outcome::"char")
   having count(*) > 0;
end
$$;
comment on function postrider_internal.finish_unreported(int, postrider_internal.finished_attempt[]) is
  'finish for attempts whose ends the leader counts in its metrics';
