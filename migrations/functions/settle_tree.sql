-- SPDX-License-Identifier: Apache-2.0
-- What follows for a batch or chain from what has come and ended in it: the next members are let go, or it ends.
--
-- Nothing here waits for a lock. A row that somebody else holds is left to the next round by a delta.
-- To end because nothing is left takes FOR UPDATE, which an INSERT of a member under way (FOR KEY SHARE) holds off. A failure
-- ends it at once; what joins in that moment is ended by the delta that tells of it.
--
-- Counts that were told of an earlier run are void: retry has counted the rows anew.
create or replace function postrider.settle_tree(
  p_tree bigint, p_run int, p_added int default 0, p_lowest int default null, p_released int default 0,
  p_finished int default 0, p_failed int default 0, p_succeeded int default 0, p_failed_job bigint default null,
  p_is_inner boolean default false)
returns "char"
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  t postrider.trees;
  v_gone record;
  v_room int;
begin
  update postrider.trees x
     set children = x.children + (x.run = p_run)::int * p_added,
         released = x.released + (x.run = p_run)::int * p_released,
         finished = x.finished + (x.run = p_run)::int * p_finished,
         failed = x.failed + (x.run = p_run)::int * p_failed,
         succeeded = x.succeeded + (x.run = p_run)::int * p_succeeded,
         failed_job_id = case when x.run <> p_run then x.failed_job_id
                              when x.failed + p_failed > 0 then coalesce(x.failed_job_id, p_failed_job) end,
         reached = least(x.reached, p_lowest - 1),
         is_draining = x.is_draining or p_added > 0 and x.state not in ('w', 'o')
   where x.ctid = (select y.ctid from postrider.trees y where y.job_id = p_tree for no key update skip locked)
  returning * into t;
  if not found then
    insert into postrider.tree_deltas (tree_id, run, added, lowest, released, finished, failed, succeeded, failed_job_id)
    select p_tree, p_run, p_added, p_lowest, p_released, p_finished, p_failed, p_succeeded, p_failed_job
     where exists (select from postrider.trees y where y.job_id = p_tree);
    return null;
  end if;
  if t.state = 'w' then
    if t.parent_id is not null and exists (select from postrider.members m where m.job_id = p_tree and not m.is_waiting) then
      perform postrider.begin_late(p_tree);
    end if;
    return null;
  end if;

  loop
    if t.state <> 'o' or t.is_expanding then
      return null;
    elsif t.failed > 0 and t.succeeded = 0 and t.expires_at <= now() and (t.kind = 'c' or t.mode = 'a')
          and not exists (select from postrider.members m join postrider.results r on r.job_id = m.job_id
                           where m.parent_id = p_tree and r.started_at is not null) then
      return postrider.end_tree(t, 'e', 'expired', 'not started before expires_at', p_is_inner);
    elsif t.failed > 0 and (t.kind = 'c' or t.mode = 'a') then
      return postrider.end_tree(t, 'f', 'child_failed', null, p_is_inner);
    elsif t.succeeded > 0 and t.mode = 'f' then
      return postrider.end_tree(t, 's', null, null, p_is_inner);
    end if;

    -- 10,000 at a time: the rest is for the next transaction.
    v_room := case when t.kind = 'c' then (t.released <= t.finished)::int
                   else least(t.max_parallel - (t.released - t.finished), 10000) end;
    if v_room > 0 then
      select * into v_gone from postrider.let_go(t, v_room);
      if v_gone.released > 0 then
        update postrider.trees x
           set released = x.released + v_gone.released, finished = x.finished + v_gone.finished,
               failed = x.failed + v_gone.failed, succeeded = x.succeeded + v_gone.succeeded,
               failed_job_id = coalesce(x.failed_job_id, v_gone.failed_job), reached = v_gone.reached
         where x.job_id = p_tree
        returning * into t;
        exit when v_gone.released = 10000;
        continue;
      end if;
    end if;
    if t.released > t.finished then
      return null;
    end if;

    -- Nothing runs, and nothing waits that could be had.
    exit when v_gone.is_blocked;
    perform from postrider.trees x where x.job_id = p_tree for update skip locked;
    exit when not found;
    -- Those that joined meanwhile, at whatever position; the delta that counts them may not have come by yet.
    select min(m.position) - 1 into t.reached from postrider.members m where m.parent_id = p_tree and m.is_waiting;
    continue when t.reached is not null;
    if t.mode = 'f' then
      return postrider.end_tree(t, 'f', 'child_failed', 'no member has succeeded', p_is_inner);
    end if;
    return postrider.end_tree(t, 's', null, null, p_is_inner);
  end loop;
  insert into postrider.tree_deltas (tree_id, run) values (p_tree, t.run);
  return null;
end
$$;
comment on function postrider.settle_tree(bigint, int, int, int, int, int, int, int, bigint, boolean) is
  'private: counts what came and ended in a batch or chain and draws the consequence; its end if p_is_inner and the caller is to count it';
