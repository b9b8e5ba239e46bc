-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- p_error: the reason why the answer cannot be judged. The job then fails with it and keeps the answer.
--
-- outcomes is empty if the cached answer ended the job: cache_serve has recorded that end in unreported_ends.
create or replace function postrider_internal.judge_cached(
  p_worker int, p_app_version text, p_track int, p_seq bigint, p_fence bigint, p_job bigint, p_error text,
  out done bigint[], out outcomes text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt postrider_internal.finished_attempt;
begin
  if not exists (
       select from postrider_internal.ready r where r.track = p_track and r.seq = p_seq and r.fence = p_fence
         and r.worker = p_worker) then
    done := '{}';
    outcomes := '';
    return;
  end if;
  if (postrider_internal.cache_serve(
        p_worker, p_app_version, array[p_track], array[p_seq], array[p_fence], array[p_job], true, p_error)).done
          <> '{}' then
    done := array[p_seq];
    outcomes := '';
    return;
  end if;
  -- The entry no longer serves, so the job must be called.
  v_attempt := postrider_internal.unsent_attempt(
    p_track, p_seq, p_fence, 'h', 'internal',
    'the cached answer was replaced before it was judged; no attempt was used');
  v_attempt.job_id := p_job;
  select j.done, j.outcomes into done, outcomes
    from postrider_internal.judge(p_worker, p_app_version, array[v_attempt]) j;
end
$$;
comment on function postrider_internal.judge_cached(int, text, int, bigint, bigint, bigint, text) is
  'ends a claimed job with its cached answer on the judging session, or hands it back if no entry serves';
