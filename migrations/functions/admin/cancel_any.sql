-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan
-- Lock order: the row of ready first, as in claim, finish and reap. If the row is being finished, this waits.
-- Afterwards its result stays, and the cancel changes nothing.
--
-- p_doubt: set after a restore, when a job may have been called without a trace in this database. If the job is not
-- running, it ends as unknown, with this text as its error.
--
-- p_actor: the admin whom the dashboard names; null: the error names nobody, or of a batch or chain the login.
create or replace function postrider_internal.cancel_any(p_id bigint, p_doubt text default null,
                                                         p_actor text default null) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_row postrider_internal.ready;
  v_planned postrider_internal.scheduled;
  v_member postrider_internal.members;
  v_state "char" := case when p_doubt is null then 'c' else 'u' end;
  v_code text := case when p_doubt is null then 'cancelled' else 'lost_worker' end;
  v_tried timestamptz;                     -- start of the last attempt; null: none
  v_is_called boolean;
  v_cancelled text := 'cancelled' || coalesce(' by ' || p_actor, '');
begin
  if exists (select from postrider_internal.trees t where t.job_id = p_id) then
    return postrider_internal.cancel_tree(p_id, p_actor);
  end if;
  for i in 1 .. 100 loop
    select * into v_row from postrider_internal.ready r
     where r.ctid = (select p.spot from postrider_internal.find_ready_row(p_id) p) for update;
    exit when found;
    delete from postrider_internal.scheduled s where s.job_id = p_id returning * into v_planned;
    if found then
      v_tried := (select max(t.started_at) from postrider_internal.past_attempts t where t.job_id = p_id);
      perform postrider_internal.end_job(p_id, v_state, v_code,
        case when p_doubt is not null then p_doubt
             when v_tried is null then v_cancelled || ' before it was called'
             else v_cancelled || ' before its next attempt' end,
        v_planned.parent_id, v_planned.has_callbacks, v_planned.track, v_planned.attempt, v_planned.rekey, v_tried);
      return true;
    end if;
    update postrider_internal.members m set is_waiting = false where m.job_id = p_id and m.is_waiting
      returning * into v_member;
    if found then
      insert into postrider_internal.tree_deltas (tree_id, run, released)
      select t.job_id, t.run, 1 from postrider_internal.trees t where t.job_id = v_member.parent_id;
      perform postrider_internal.end_job(p_id, v_state, v_code,
        coalesce(p_doubt, v_cancelled || ' before its turn came'), v_member.parent_id,
        postrider_internal.has_callbacks(j), p_attempt => v_member.attempt, p_rekey => v_member.rekey)
         from postrider.jobs j where j.id = p_id;
      return true;
    end if;
    if exists (select from postrider_internal.results r where r.job_id = p_id)
       or exists (select from postrider_internal.outcomes o where o.job_id = p_id) then
      return false;
    end if;
    continue when postrider_internal.feed_job(p_id);
    -- The job was between two places (promoted, reaped or moved): tries again.
  end loop;
  if v_row.job_id is null then
    raise exception using errcode = 'PR004',
      message = format('job %s was not cancelled: its state kept changing', p_id),
      hint = 'Cancel it again.';
  end if;
  delete from postrider_internal.ready r where r.track = v_row.track and r.seq = v_row.seq;
  -- If a will_start hook cancels its own job, the cancel commits and the job is released before anything is sent.
  v_is_called := v_row.worker > 0
    and not postrider_internal.has_begun_in_transaction(p_id);
  if v_is_called and v_row.at_most_once then
    v_state := 'u';
    v_code := 'cancelled';
  end if;
  if v_row.worker > 0 then
    insert into postrider_internal.aborts (worker, fence, job_id) values (v_row.worker, v_row.fence, p_id);
    perform pg_notify('postrider', 'abort');
  end if;
  v_tried := (select max(t.started_at) from postrider_internal.past_attempts t where t.job_id = p_id);
  -- The claim has counted the attempt. A job that is claimed but not called gets this attempt back.
  perform postrider_internal.end_job(p_id, v_state, v_code,
    case when p_doubt is not null and not v_is_called then p_doubt
         when not v_is_called and v_tried is null then v_cancelled || ' before it was called'
         when not v_is_called then v_cancelled || ' before its next attempt'
         when v_state = 'u'
           then v_cancelled || ' while it was running; it is not known whether the server acted on it'
         else v_cancelled || ' while it was running' end,
    v_row.parent_id, v_row.has_callbacks, v_row.track, v_row.attempt - (v_row.worker > 0 and not v_is_called)::int,
    v_row.rekey,
    case when v_is_called then v_row.since else v_tried end, v_row.fence, v_row.worker);
  return true;
end
$$;
comment on function postrider_internal.cancel_any(bigint, text, text) is
  'ends an unfinished job of any role, as cancelled, or as unknown with p_doubt; false if it was finished';
