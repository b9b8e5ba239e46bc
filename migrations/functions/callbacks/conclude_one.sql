-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit
-- One job with functions. When the time is over, the statement_timeout of the session ends the running function. The
-- limit applies only once in a statement, so a later function would have no limit. So all changes of this job are
-- rolled back, the function is recorded and left out, and the next call starts again.
--
-- The webhook comes last, because a very large one may take longer to write than the time allows.
--
-- Errors outside of the savepoints of the functions, such as a deadlock, are retried later. After five times no
-- function is run and no webhook is written. A shortage of the database counts only after 15 minutes (defer_outcome).
create or replace function postrider_internal.conclude_one(p_end postrider_internal.outcomes, out has_ended boolean,
                                                           out failure text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v record;
  v_job postrider.jobs;
  v_run int := (select t.run from postrider_internal.trees t where t.job_id = p_end.parent_id);
  v_key text;                              -- the function that is running; null: no function
  v_event text;
  v_callback text;
  v_function text;
  v_state text;
  v_error text;
begin
  begin
    perform postrider_internal.move_outcomes(array[p_end.job_id]);
    select * into v_job from postrider.jobs j where j.id = p_end.job_id;
    for v in
      select c.* from postrider_internal.callables(
          p_end.job_id, p_end.state, p_end.total_us is null and coalesce(p_end.cache in ('hit', 'stale'), false)) c
       where c.key <> all (coalesce(p_end.dropped, '{}'))
       order by c.place
    loop
      if p_end.tries >= 5 then
        v_error := 'not run: the job''s end could not be stored in one transaction with its functions'
          || coalesce(': ' || p_end.failure, '');
      else
        v_key := v.key;
        v_event := v.event;
        v_callback := v.callback;
        v_function := v.function;
        select r.state, r.error into v_state, v_error
          from postrider_internal.run_callable(p_end.job_id, v.event, v.callback, v.function) r;
        if v_state = '57014' and postrider_internal.is_time_over() then
          raise query_canceled using message = v_error;
        elsif left(v_state, 2) in ('53', '58') and p_end.finished_at > clock_timestamp() - interval '15 min' then
          -- The database was short of memory, disk or files: everything is repeated later. Errors by locks and
          -- deadlocks belong to the function.
          v_key := null;
          raise exception using errcode = v_state, message = v_error;
        end if;
        v_key := null;
      end if;
      if v_error is not null then
        insert into postrider_internal.callback_failures (job_id, event, callback, function, sqlstate, error)
        values (p_end.job_id, v.event, v.callback, v.function, v_state, v_error);
      end if;
    end loop;
    delete from postrider_internal.hook_starts s where s.job_id = p_end.job_id;
    if v_job.callback_url is null or 'callback_url' = any (p_end.dropped) then
      null;
    elsif p_end.tries >= 5 then
      insert into postrider_internal.callback_failures (job_id, event, error)
      values (p_end.job_id, 'callback_url', 'not sent: the job''s end could not be stored in one transaction with its webhook'
              || coalesce(': ' || p_end.failure, ''));
    else
      v_key := 'callback_url';
      v_event := v_key;
      v_callback := null;
      v_function := null;
      begin
        perform postrider_internal.send_webhooks(array[p_end.job_id]);
      exception when others then
        if postrider_internal.is_shortage(sqlstate) and p_end.finished_at > clock_timestamp() - interval '15 min' then
          v_key := null;
          raise;
        end if;
        get stacked diagnostics v_state = returned_sqlstate, v_error = message_text;
        insert into postrider_internal.callback_failures (job_id, event, sqlstate, error)
        values (p_end.job_id, 'callback_url', v_state, left(v_error, 2000));
      end;
      v_key := null;
    end if;
    if v_job.notify then
      perform postrider_internal.notify_finished(array[p_end.job_id]);
    end if;
    -- If the functions restarted the tree, it has counted this end already.
    if v_run = (select t.run from postrider_internal.trees t where t.job_id = p_end.parent_id) then
      perform postrider_internal.count_ended_members(
        array[p_end.parent_id], array[p_end.job_id], array[case when p_end.is_swept and p_end.state <> 'k' then 'x'
          else p_end.state end]);
    end if;
    has_ended := true;
    return;
  exception
    when query_canceled or others then
      get stacked diagnostics v_state = returned_sqlstate, v_error = message_text;
  end;
  has_ended := false;
  if v_key is not null then
    update postrider_internal.outcomes o set dropped = array_append(o.dropped, v_key) where o.job_id = p_end.job_id;
    insert into postrider_internal.callback_failures (job_id, event, callback, function, sqlstate, error)
    values (p_end.job_id, v_event, v_callback, v_function, v_state, case
      when v_state <> '57014' or not postrider_internal.is_time_over() then ''
      when v_key = 'callback_url'
        then 'not sent: the job''s functions and webhook together took longer than 5 s, and the webhook was being written: '
      else 'the job''s functions together took longer than 5 s, and this one was running: ' end || v_error);
  else
    failure := v_error;
    perform postrider_internal.defer_outcome(p_end.job_id, v_error, v_state);
  end if;
end
$$;
comment on function postrider_internal.conclude_one(postrider_internal.outcomes) is
  'ends one locked job of outcomes with its functions; false: try again later, with the reason';
