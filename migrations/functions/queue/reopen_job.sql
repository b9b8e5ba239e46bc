-- SPDX-License-Identifier: Apache-2.0
-- In the row returned, attempt, track and rekey are already the values for the next run.
create or replace function postrider_internal.reopen_job(p_id bigint,
                                                         p_from_start boolean default false)
returns postrider_internal.results
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result postrider_internal.results;
  v_holder bigint;
  v_counted bigint[] := case when exists (select from postrider.client_limits) then array[-p_id] end;
begin
  delete from postrider_internal.results r where r.job_id = p_id returning * into v_result;
  if not found then
    return null;
  end if;
  -- prune_range relies on this row, and on the lock on results that the delete holds until the commit.
  insert into postrider_internal.rerun_jobs (first_id)
  select coalesce((select t.root_id from postrider_internal.trees t where t.job_id = coalesce(j.parent_id, j.id)), j.id)
    from postrider.jobs j where j.id = p_id;
  select postrider_internal.take_dedupe_key(j.queue, j.dedupe_key, p_id) into v_holder
    from postrider.jobs j where j.id = p_id and j.dedupe_key is not null;
  if v_holder is not null then
    raise unique_violation using schema = 'postrider', table = 'jobs', column = 'dedupe_key',
      message = format('job %s cannot run again: job %s has its dedupe_key and has not finished', p_id, v_holder),
      hint = 'Wait until that job has ended, or cancel it.';
  end if;
  -- end_unknown ends jobs without a lease, but such a job may have been called.
  if v_result.fence > 0 or v_result.state = 'u' then
    insert into postrider_internal.past_attempts (job_id, fence, started_at, finished_at, worker, attempt, dns_us,
                                                  connect_us, tls_us,
      first_byte_us, total_us, status_code, reused, http_version, error_code, remote_ip, error, bytes_sent,
      bytes_received, cache,
      server, credential_version, ended_as)
    values (v_result.job_id, case when v_result.fence > 0 then v_result.fence
            else nextval('postrider_internal.fences') end,
      coalesce(v_result.started_at, v_result.finished_at), v_result.finished_at, v_result.worker,
      v_result.attempt, v_result.dns_us, v_result.connect_us, v_result.tls_us, v_result.first_byte_us,
      v_result.total_us, v_result.status_code, v_result.reused, v_result.http_version, v_result.error_code,
      v_result.remote_ip, v_result.error, v_result.bytes_sent, v_result.bytes_received, v_result.cache,
      v_result.server, v_result.credential_version, v_result.state);
  end if;
  if v_result.fence = 0 and exists (select from postrider_internal.past_attempts t
                                    where t.job_id = p_id and t.attempt > v_result.attempt) then
    -- The job was cancelled while it waited with an attempt given back (429). The wait that begins now is a different
    -- one.
    v_result.attempt := v_result.attempt + 1;
  end if;
  -- Subtracts from the total since the beginning, not from the jobs that end in this minute.
  if exists (select from postrider_internal.tracks t where t.id = v_result.track) then
    insert into postrider_internal.job_deltas (at, tracks, states, jobs, ended)
    values ('-infinity', array[v_result.track], array[v_result.state], array[-1], v_counted);
  else
    insert into postrider_internal.job_deltas (at, tracks, states, jobs, queue, ended)
    select '-infinity', array[0], array[v_result.state], array[-1], j.queue, v_counted from postrider.jobs j
      where j.id = p_id and j.kind = 'request';
    v_result.track := postrider_internal.job_track(v_result.track, p_id);
  end if;
  if postrider_internal.prepare_page_retry(p_id, v_result.state, v_result.error_code, p_from_start) then
    v_result.rekey := least(v_result.rekey + 1, 32766);
  end if;
  return v_result;
end
$$;
comment on function postrider_internal.reopen_job(bigint, boolean) is
  'removes and returns the result of a finished job so that it can run again; null if it has no result';
