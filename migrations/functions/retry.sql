-- SPDX-License-Identifier: Apache-2.0
-- The only way out of a final state. What the last attempt left goes to tries, so the history stays whole.
create or replace function postrider.retry(id bigint, new_key boolean default false) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_job postrider.jobs;
  v_result postrider.results;
begin
  select * into v_job from postrider.jobs j where j.id = retry.id;
  if not found then
    raise exception using errcode = 'PR003', message = format('job %s does not exist', retry.id),
      hint = 'Look it up in postrider.job_status.';
  end if;
  if v_job.expires_at <= now() then
    raise exception using errcode = 'PR005', message = format('job %s expired at %s', retry.id, v_job.expires_at),
      hint = 'Insert a new job with a later expires_at.';
  end if;
  delete from postrider.results r where r.job_id = retry.id returning * into v_result;
  if not found then
    raise exception using errcode = 'PR005', message = format('job %s has not finished', retry.id),
      hint = 'Only a finished job can be retried; see select postrider.explain(id).';
  end if;
  if v_result.fence > 0 then
    insert into postrider.tries (job_id, fence, started_at, finished_at, worker, attempt, dns_us, connect_us, tls_us,
      first_byte_us, total_us, status_code, reused, http_version, error_code, remote_ip, error, bytes_sent, bytes_received, cache)
    values (v_result.job_id, v_result.fence, v_result.started_at, v_result.finished_at, v_result.worker,
      v_result.attempt, v_result.dns_us, v_result.connect_us, v_result.tls_us, v_result.first_byte_us,
      v_result.total_us, v_result.status_code, v_result.reused, v_result.http_version, v_result.error_code,
      v_result.remote_ip, v_result.error, v_result.bytes_sent, v_result.bytes_received, v_result.cache);
  end if;
  insert into postrider.tallies (track, state, jobs) values (v_result.track, v_result.state, -1);
  insert into postrider.ready (seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, is_followed)
  values (nextval('postrider.jobs_id_seq'), retry.id, v_result.track, v_result.attempt,
          v_result.attempt + v_job.max_attempts, v_result.rekey + retry.new_key::int,
          v_job.delivery = 'at_most_once', v_job.expires_at, postrider.job_is_followed(v_job));
  perform postrider.wake();
end
$$;
comment on function postrider.retry(bigint, boolean) is
  'public: makes a finished job ready again; attempt numbers go on, max_attempts more are allowed; the Idempotency-Key stays unless new_key';
