-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.callback_errors with (security_barrier) as
select f.job_id, f.at as failed_at, f.event, f.callback, f.function, 'callback'::text as error_code, f.sqlstate,
       f.error,
       j.queue, j.service, j.tag
  from postrider_internal.callback_failures f
  left join postrider.jobs j on j.id = f.job_id
 where j.created_by = current_user or (select postrider_internal.sees_all());
comment on view postrider.callback_errors is
  'callbacks, hooks and webhooks that failed: what they wrote is undone, the job''s end stands; rerun_callback runs a callback again';
comment on column postrider.callback_errors.job_id is 'the job whose end set it off';
comment on column postrider.callback_errors.failed_at is 'when it failed';
comment on column postrider.callback_errors.event is
  'on_success, on_failure, will_start, will_stop, did_stop or callback_url';
comment on column postrider.callback_errors.callback is 'row of callbacks; null for hooks and webhooks';
comment on column postrider.callback_errors.function is 'what ran; null for webhooks';
comment on column postrider.callback_errors.error_code is 'always callback';
comment on column postrider.callback_errors.sqlstate is
  'of PostgreSQL''s error; 57014: it took longer than 5 s, if error says so, else the statement was cancelled';
comment on column postrider.callback_errors.error is 'PostgreSQL''s message';
comment on column postrider.callback_errors.queue is 'of the job';
comment on column postrider.callback_errors.service is 'of the job';
comment on column postrider.callback_errors.tag is 'of the job';
