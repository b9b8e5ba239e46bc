-- SPDX-License-Identifier: Apache-2.0
-- planner: no-jit, no-seqscan, nested-loops
-- Releases the next members, or ends the batch or chain. The caller holds the lock on its row and has read it.
--
-- If no member is left, the end takes FOR UPDATE. The INSERT of a member holds FOR KEY SHARE and so delays that end. A
-- failure ends the tree at once. A member that joins at that moment is ended by the delta that its INSERT writes.
create or replace function postrider_internal.advance_tree(p_tree postrider_internal.trees,
                                                           p_is_inner boolean) returns "char"
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  t postrider_internal.trees := p_tree;
  v_round record;
  v_room int;
  v_most constant int := 10000;  -- most members in one transaction
  v_first int;
  -- On the judging session each expensive step gets its own statement.
  v_longest interval := case postrider_internal.duty_mode() when 'judge' then interval '20 ms' else interval '1 s' end;
  v_is_blocked boolean := false;
  v_is_dry boolean := p_tree.released >= p_tree.children;  -- true: probably no member waits
begin
  loop
    if t.state <> 'o' or t.is_expanding then
      return null;
    elsif t.failed > 0 and (t.kind = 'c' or t.mode = 'a') then
      if postrider_internal.tree_has_expired(t) then
        return postrider_internal.end_tree(t, 'e', 'expired', 'not started before expires_at', p_is_inner);
      end if;
      return postrider_internal.end_tree(t, 'f', 'child_failed', null, p_is_inner);
    elsif t.succeeded > 0 and t.mode = 'f' then
      return postrider_internal.end_tree(t, 's', null, null, p_is_inner);
    end if;

    -- The next transaction releases the rest.
    v_room := case when t.kind = 'c' then (t.released <= t.finished)::int
                   else least(t.max_parallel - (t.released - t.finished), v_most) end;
    if t.kind = 'b' and v_room > 1 and not v_is_dry then
      -- A request takes 20 µs. A member with templates or with own members takes a millisecond to half a second. So
      -- all requests before the next such member are released together.
      select n.position into v_first
        from (select m.job_id, m.position from postrider_internal.members m
               where m.parent_id = t.job_id and m.position > t.reached and m.is_waiting
               order by m.position limit v_room) n
       cross join lateral (
             select from postrider.jobs j
              where j.id = n.job_id and (j.kind <> 'request' or postrider_internal.job_is_templated(j)) offset 0) j
       order by n.position
       limit 1;
      if v_first is not null then
        v_room := greatest(1, (
          select count(*) from postrider_internal.members m
           where m.parent_id = t.job_id and m.position > t.reached and m.position < v_first and m.is_waiting));
      end if;
    end if;
    if v_room > 0 and not v_is_dry then
      select * into v_round from postrider_internal.release_members(t, v_room);
      v_is_blocked := v_round.is_blocked;
      if v_round.released > 0 then
        update postrider_internal.trees x
           set released = x.released + v_round.released, finished = x.finished + v_round.finished,
               failed = x.failed + v_round.failed, succeeded = x.succeeded + v_round.succeeded,
               failed_job_id = coalesce(x.failed_job_id, v_round.failed_job), reached = v_round.reached
         where x.job_id = t.job_id
        returning * into t;
        exit when v_round.released = v_most or clock_timestamp() > statement_timestamp() + v_longest;
        v_is_dry := v_round.released < v_room and not v_is_blocked;
        continue;
      end if;
    end if;
    if t.released > t.finished then
      return null;
    end if;

    -- No member runs, and no waiting member can be locked.
    exit when v_is_blocked;
    -- One member may be reported as released and as finished in two deltas. If one is missing, it follows.
    exit when t.finished < t.children;
    perform from postrider_internal.trees x where x.job_id = t.job_id for update skip locked;
    exit when not found;
    -- Finds members that joined meanwhile, at any position. The delta that counts them may not have arrived yet.
    select min(m.position) - 1 into t.reached from postrider_internal.members m
      where m.parent_id = t.job_id and m.is_waiting;
    v_is_dry := false;
    continue when t.reached is not null;
    if t.failed > 0 and postrider_internal.tree_has_expired(t) then
      return postrider_internal.end_tree(t, 'e', 'expired', 'not started before expires_at', p_is_inner, 0);
    elsif t.mode = 'f' then
      return postrider_internal.end_tree(t, 'f', 'child_failed', 'no member has succeeded', p_is_inner, 0);
    end if;
    return postrider_internal.end_tree(t, 's', null, null, p_is_inner, 0);
  end loop;
  insert into postrider_internal.tree_deltas (tree_id, run, is_expensive)
  values (t.job_id, t.run, not v_is_blocked and postrider_internal.duty_mode() = 'judge');
  return null;
end
$$;
comment on function postrider_internal.advance_tree(postrider_internal.trees, boolean) is
  'releases members of a batch or chain or ends it; returns its final state if p_is_inner and the caller counts it';
