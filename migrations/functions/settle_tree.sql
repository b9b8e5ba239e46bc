-- SPDX-License-Identifier: Apache-2.0
-- What follows for a batch or chain from what has come and ended in it: the next members are let go, or it ends.
--
-- Nothing here waits for a lock. A row that somebody else holds is left to the next round by a delta without a count.
-- Ending needs FOR UPDATE, which an INSERT of a member under way (FOR KEY SHARE) holds off; all else does not.
create or replace function postrider.settle_tree(
  p_tree bigint, p_added int, p_released int, p_finished int, p_failed int, p_succeeded int, p_failed_job bigint,
  p_is_inner boolean default false)
returns "char"
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  t postrider.trees;
  v_gone record;
  v_room int;
begin
  update postrider.trees x
     set children = x.children + p_added, released = x.released + p_released, finished = x.finished + p_finished,
         failed = x.failed + p_failed, succeeded = x.succeeded + p_succeeded,
         failed_job_id = coalesce(x.failed_job_id, p_failed_job)
   where x.ctid = (select y.ctid from postrider.trees y where y.job_id = p_tree for no key update skip locked)
  returning * into t;
  if not found then
    insert into postrider.tree_deltas (tree_id, added, released, finished, failed, succeeded, failed_job_id)
    select p_tree, p_added, p_released, p_finished, p_failed, p_succeeded, p_failed_job
     where exists (select from postrider.trees y where y.job_id = p_tree);
    return null;
  end if;

  loop
    if t.state = 'w' and exists (select from postrider.members m where m.job_id = p_tree and not m.is_waiting) then
      return postrider.begin_tree(p_tree, p_is_inner);
    elsif t.state <> 'o' or t.is_expanding then
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

    v_room := case when t.kind = 'c' then (t.released <= t.finished)::int
                   else coalesce(t.max_parallel - (t.released - t.finished), 100000) end;
    if v_room > 0 then
      select * into v_gone from postrider.let_go(t, v_room);
      if v_gone.released > 0 then
        update postrider.trees x
           set released = x.released + v_gone.released, finished = x.finished + v_gone.finished,
               failed = x.failed + v_gone.failed, succeeded = x.succeeded + v_gone.succeeded,
               failed_job_id = coalesce(x.failed_job_id, v_gone.failed_job), reached = v_gone.reached
         where x.job_id = p_tree
        returning * into t;
        continue;
      end if;
    end if;
    if t.released > t.finished then
      return null;
    end if;

    -- Nothing runs, and nothing waits that could be had.
    if v_gone.is_blocked is not true then
      perform from postrider.trees x where x.job_id = p_tree for update skip locked;
      if found then
        continue when exists (
          select from postrider.members m where m.parent_id = p_tree and m.position > t.reached and m.is_waiting);
        if t.mode = 'f' then
          return postrider.end_tree(t, 'f', 'child_failed', 'no member has succeeded', p_is_inner);
        end if;
        return postrider.end_tree(t, 's', null, null, p_is_inner);
      end if;
    end if;
    insert into postrider.tree_deltas (tree_id) values (p_tree);
    return null;
  end loop;
end
$$;
comment on function postrider.settle_tree(bigint, int, int, int, int, int, bigint, boolean) is
  'private: counts what came and ended in a batch or chain and draws the consequence; its end if p_is_inner and the caller is to count it';
