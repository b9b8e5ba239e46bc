-- SPDX-License-Identifier: Apache-2.0
-- For jobs that end one at a time. The caller has removed the row of the job from ready, scheduled or the waiting
-- members.
create or replace function postrider_internal.store_job_end(
  p_job bigint, p_state "char", p_code text, p_error text, p_parent bigint, p_has_callbacks boolean,
  p_track int default 0,
  p_attempt int default 0, p_rekey smallint default 0, p_started timestamptz default null, p_fence bigint default 0,
  p_worker int default 0, p_status smallint default null)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_needs_conclude boolean := p_has_callbacks or exists (select from postrider.hooks)
    and postrider_internal.is_hooked(p_job);
  v_counted bigint[] := case when exists (select from postrider.client_limits) then array[p_job] end;
begin
  if v_needs_conclude then
    insert into postrider_internal.outcomes (
      job_id, started_at, fence, worker, attempt, track, rekey, state, status_code, error_code, error, parent_id)
    values (p_job, p_started, p_fence, p_worker, p_attempt, p_track, p_rekey, p_state, p_status, p_code, p_error,
            p_parent);
  else
    insert into postrider_internal.results (job_id, started_at, fence, worker, attempt, track, rekey, state,
                                            status_code, error_code, error)
    values (p_job, p_started, p_fence, p_worker, p_attempt, p_track, p_rekey, p_state, p_status, p_code, p_error);
  end if;
  if p_track > 0 then
    insert into postrider_internal.job_deltas (tracks, states, jobs, ended) values (array[p_track], array[p_state],
        array[1], v_counted);
  else
    -- The job ended before it had a track.
    insert into postrider_internal.job_deltas (tracks, states, jobs, queue, ended)
    select array[0], array[p_state], array[1], j.queue, v_counted from postrider.jobs j
      where j.id = p_job and j.kind = 'request';
  end if;
  perform postrider_internal.record_unreported_ends(array[p_job], array[p_state]);
  return v_needs_conclude;
end
$$;
comment on function postrider_internal.store_job_end(
  bigint, "char", text, text, bigint, boolean, int, int, smallint, timestamptz, bigint, int, smallint) is
  'stores the final state of a job that ended without a complete call; true: conclude counts it in its batch or chain';
