-- SPDX-License-Identifier: Apache-2.0
-- The only way out of a final state. The last attempt goes to past_attempts, so the history stays complete.
create or replace function postrider.retry(id bigint, new_key boolean default false,
                                           from_start boolean default false) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_job postrider.jobs;
  v_result postrider_internal.results;
begin
  perform postrider_internal.raise_null_argument('id', retry.id is null,
                                                 'Give the id of a job, as INSERT … RETURNING id and submit give it.');
  perform postrider_internal.raise_null_argument('new_key', retry.new_key is null,
                                                 'Give true or false, or leave it out.');
  perform postrider_internal.raise_null_argument('from_start', retry.from_start is null,
                                                 'Give true or false, or leave it out.');
  select * into v_job from postrider.jobs j where j.id = retry.id;
  if not found then
    raise exception using errcode = 'PR003', message = postrider_internal.missing_job_message(retry.id),
      hint = 'Look it up in postrider.job_status.';
  end if;
  if retry.from_start and v_job.paginate is null then
    raise exception using errcode = 'PR001', column = 'from_start',
      message = format('from_start: job %s has no paginate, so it has no pages to remove', retry.id),
      hint = 'Leave it out.';
  end if;
  if v_job.expires_at <= now() then
    raise exception using errcode = 'PR005', message = format('job %s expired at %s', retry.id, v_job.expires_at),
      hint = 'Insert a new job with a later expires_at.';
  end if;
  if v_job.parent_id is not null then
    perform postrider_internal.requeue_member(retry.id, v_job.parent_id, retry.new_key, retry.from_start);
    return;
  end if;
  if v_job.kind <> 'request' then
    perform postrider_internal.retry_tree(retry.id, retry.new_key);
    return;
  end if;
  v_result := postrider_internal.reopen_job(retry.id, retry.from_start);
  if v_result is null then
    raise exception using errcode = 'PR005', message = format('job %s has not finished', retry.id),
      hint = 'Only a finished job can be retried; see select postrider.explain(id).';
  end if;
  insert into postrider_internal.ready (
    seq, job_id, track, attempt, max_attempts, rekey, at_most_once, expires_at, has_callbacks)
  values (nextval('postrider.jobs_id_seq'), retry.id, v_result.track, v_result.attempt,
          v_result.attempt + v_job.max_attempts, v_result.rekey + retry.new_key::int,
          v_job.delivery = 'at_most_once', v_job.expires_at, postrider_internal.has_callbacks(v_job));
  perform postrider_internal.notify_idle_workers();
end
$$;
comment on function postrider.retry(bigint, boolean, boolean) is
  'runs an ended job again with max_attempts more attempts; of a batch or chain, all jobs without success';
