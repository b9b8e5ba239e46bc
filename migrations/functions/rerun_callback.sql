-- SPDX-License-Identifier: Apache-2.0
-- Runs in the transaction of whoever calls it, with the rights of the schema's owner, who registered the function. What ends the
-- caller's statement is no fault of the function's, as it is in a worker's session, whose limit the functions of a job share.
create or replace function postrider.rerun_callback(id bigint) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_result postrider.results;
  v record;
  v_state text;
  v_error text;
begin
  perform postrider.refuse_null('id', rerun_callback.id is null, 'Give the id of a job, as INSERT … RETURNING id and submit give it.');
  select * into v_result from postrider.results r where r.job_id = rerun_callback.id for update;
  if not found then
    raise exception using errcode = case when exists (select from postrider.jobs j where j.id = rerun_callback.id) then 'PR005' else 'PR003' end,
      message = format('job %s has not finished, or does not exist', rerun_callback.id),
      hint = 'A callback runs when its job has finished; see select postrider.explain(id).';
  end if;
  select c.* into v from postrider.callables(rerun_callback.id, v_result.state, false) c where c.key = 'callback';
  if not found then
    raise exception using errcode = 'PR005',
      message = format('job %s %s, and has no callback for that', rerun_callback.id, postrider.state_name(v_result.state)),
      hint = 'Give on_success or on_failure when you insert a job.';
  end if;
  delete from postrider.callback_faults f where f.job_id = rerun_callback.id and f.callback is not null;
  select r.state, r.error into v_state, v_error
    from postrider.run_callable(rerun_callback.id, v.event, v.callback, v.function, false) r;
  if v_state = '57014' then
    -- It was the caller's own time that was over, or the caller who gave it up.
    raise query_canceled using message = v_error;
  elsif v_state is not null then
    insert into postrider.callback_faults (job_id, event, callback, function, sqlstate, error)
    values (rerun_callback.id, v.event, v.callback, v.function, v_state, v_error);
  end if;
  return v_state is null;
end
$$;
comment on function postrider.rerun_callback(bigint) is
  'public: runs the callback of a finished job once more, now; false if it failed again, see callback_errors';
