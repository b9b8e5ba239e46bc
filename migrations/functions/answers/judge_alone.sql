-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Evaluates the expressions before finish locks the row of ready, so a cancel does not wait for them.
create or replace function postrider_internal.judge_alone(p_worker int, p_app_version text,
                                                          p_attempts postrider_internal.finished_attempt[],
                                                          out done bigint[], out outcomes text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
       select from unnest(p_attempts) x join postrider_internal.ready r on r.track = x.track and r.seq = x.seq
        where r.fence = x.fence and r.worker = p_worker) then
    done := '{}';
    outcomes := '';
    return;
  end if;
  select j.done, j.outcomes into done, outcomes from postrider_internal.judge(p_worker, p_app_version, p_attempts) j;
end
$$;
comment on function postrider_internal.judge_alone(int, text, postrider_internal.finished_attempt[]) is
  'judge for one attempt on the judging session; does nothing if its lease has ended';
