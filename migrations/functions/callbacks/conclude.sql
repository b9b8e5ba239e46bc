-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, generic-plans, no-seqscan, no-bitmapscan, nested-loops
-- A session that finished a job with callbacks calls this until it finds nothing. The leader does the same for ends
-- that such a session has left. One transaction handles one job with functions, or many jobs without.
--
-- has_parents: an ended job is a member, so its batch or chain may go on. failure: why a job is retried later.
--
-- The functions of a batch or chain run after the functions of all jobs that its end has ended, so that they may retry
-- the whole tree. It waits at most a minute for that. So neither slow functions of thousands of members nor an open
-- transaction delay its end further.
--
-- Lock order: rows of outcomes with SKIP LOCKED. count_ended_members skips locked rows too. The locks of the functions
-- are their own; a deadlock ends one of them.
create or replace function postrider_internal.conclude(p_limit int, out ended int, out more boolean,
                                                       out has_parents boolean, out failure text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hooked boolean := exists (select from postrider.hooks);
  v_end postrider_internal.outcomes;
  v_has_ended boolean;
  v_jobs bigint[];
  v_notifying bigint[];
  v_webhooks bigint[];
  v_parents bigint[];
  v_members bigint[];
  v_states "char"[];
begin
  ended := 0;
  more := false;
  has_parents := false;
  select o.* into v_end
    from postrider_internal.outcomes o
   where o.due_at <= now() order by o.due_at, o.job_id limit 1 for update skip locked;
  if not found then
    return;
  end if;
  more := true;
  if v_end.tries > 0 or v_hooked and postrider_internal.is_hooked(v_end.job_id)
     or exists (
          select from postrider.jobs j
           where j.id = v_end.job_id
             and case v_end.state when 's' then j.on_success when 'k' then null else j.on_failure end is not null) then
    if v_end.finished_at > now() - interval '1 min' and postrider_internal.has_unfinished_descendants(v_end.job_id) then
      update postrider_internal.outcomes o set due_at = clock_timestamp() + interval '0.1 s'
        where o.job_id = v_end.job_id;
      return;
    end if;
    select c.has_ended, c.failure into v_has_ended, failure from postrider_internal.conclude_one(v_end) c;
    ended := v_has_ended::int;
    has_parents := v_end.parent_id is not null;
    return;
  end if;
  begin
    select array_agg(o.job_id order by o.due_at, o.job_id),
           array_agg(o.parent_id order by o.due_at, o.job_id) filter (where o.parent_id is not null),
           array_agg(o.job_id order by o.due_at, o.job_id) filter (where o.parent_id is not null),
           -- x: the end of the tree has ended this member (count_ended_members).
           array_agg(case when o.is_swept and o.state <> 'k' then 'x' else o.state end order by o.due_at, o.job_id)
             filter (where o.parent_id is not null),
           array_agg(o.job_id order by o.due_at, o.job_id) filter (where j.notify),
           array_agg(o.job_id order by o.due_at, o.job_id) filter (where j.callback_url is not null)
      into v_jobs, v_parents, v_members, v_states, v_notifying, v_webhooks
      from (select n.job_id, n.parent_id, n.state, n.is_swept, n.due_at
              from postrider_internal.outcomes n
             where n.due_at <= now() and n.tries = 0
             order by n.due_at, n.job_id
             limit p_limit
               for update skip locked) o
      left join postrider.jobs j on j.id = any (array[o.job_id])
     where case o.state when 's' then j.on_success when 'k' then null else j.on_failure end is null
       and case when v_hooked then not postrider_internal.is_hooked(o.job_id) else true end;
    perform postrider_internal.move_outcomes(v_jobs);
    if v_webhooks is not null then
      perform postrider_internal.send_webhooks(v_webhooks);
    end if;
    if v_notifying is not null then
      perform postrider_internal.notify_finished(v_notifying);
    end if;
    if v_parents is not null then
      perform postrider_internal.count_ended_members(v_parents, v_members, v_states);
      has_parents := true;
    end if;
    ended := cardinality(v_jobs);
  exception when query_canceled or others then
    -- One of the jobs causes the error; a webhook that takes too long to write raises query_canceled. From now on each
    -- is handled alone.
    get stacked diagnostics failure = message_text;
    ended := 0;
    -- If the jobs are unknown because the query for them failed, the first job is used. Each call ends or delays one
    -- job.
    update postrider_internal.outcomes o set tries = 1, failure = conclude.failure
      where o.job_id = any (coalesce(v_jobs, array[v_end.job_id]));
  end;
end
$$;
comment on function postrider_internal.conclude(int) is
  'ends one job of outcomes with its functions, or up to p_limit jobs without; more: call again';
