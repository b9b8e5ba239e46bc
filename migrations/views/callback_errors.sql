-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.callback_errors with (security_barrier) as
select f.job_id, f.at as failed_at, f.event, f.callback, f.function, 'callback'::text as error_code, f.sqlstate,
       f.error,
       j.queue, j.service, j.tag
  from postrider_internal.callback_failures f
  left join postrider.jobs j on j.id = f.job_id
 where j.created_by = current_user or (select postrider_internal.sees_all());
comment on view postrider.callback_errors is
  'failed callbacks, hooks and webhooks; their writes were rolled back, the end of the job remains; see rerun_callback';
comment on column postrider.callback_errors.job_id is 'job for which it ran';
comment on column postrider.callback_errors.failed_at is 'when it failed';
comment on column postrider.callback_errors.event is
  'on_success, on_failure, will_start, will_stop, did_stop or callback_url';
comment on column postrider.callback_errors.callback is 'row of callbacks; null for hooks and webhooks';
comment on column postrider.callback_errors.function is 'function that failed; null for webhooks';
comment on column postrider.callback_errors.error_code is 'always callback';
comment on column postrider.callback_errors.sqlstate is
  'SQLSTATE of the error; 57014: longer than 5 s if error says so, otherwise the statement was cancelled';
comment on column postrider.callback_errors.error is 'error message of PostgreSQL';
comment on column postrider.callback_errors.queue is 'queue of the job';
comment on column postrider.callback_errors.service is 'service of the job';
comment on column postrider.callback_errors.tag is 'tag of the job';
