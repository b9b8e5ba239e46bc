-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.callback_errors with (security_barrier) as
select f.job_id, f.at as failed_at, f.event, f.callback, f.function, 'callback'::text as error_code, f.sqlstate, f.error,
       j.queue, j.service, j.tag
  from postrider.callback_faults f
  left join postrider.jobs j on j.id = f.job_id
 where j.created_by = current_user or (select postrider.sees_all());
comment on view postrider.callback_errors is
  'public: callbacks, hooks and webhooks that failed: what they wrote is undone, the job''s end stands; rerun_callback runs a callback again';
