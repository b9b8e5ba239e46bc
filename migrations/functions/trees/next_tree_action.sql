-- SPDX-License-Identifier: Apache-2.0
-- after: trees/tree_room.sql
-- All rules of batches and chains, without I/O. Has no SET clause, so PostgreSQL inlines it.
--
-- A failure ends the tree at once, without the lock that keeps members from joining. A member that joins at that moment
-- is ended by the delta that its INSERT writes. If no member is left, the row is locked first.
--
-- finished < children: one member may be reported as released and as finished in two deltas. If one of them is missing,
-- it follows.
create or replace function postrider_internal.next_tree_action(
  p_tree postrider_internal.trees, p_finding postrider_internal.tree_finding,
  p_waiting postrider_internal.waiting_members) returns postrider_internal.tree_action
language sql immutable parallel safe
return case
  when p_tree.state = 'w' and p_finding = 'due' then 'begin'::postrider_internal.tree_action
  when (p_tree.state = 'o') is not true then 'wait'
  when p_finding = 'expired' then 'expire'
  when p_finding = 'broken' then 'fail'
  when p_finding = 'postponed' then 'continue_later'
  when p_tree.is_expanding then 'wait'
  when p_tree.failed > 0 and (p_tree.kind = 'c' or p_tree.mode = 'a')
    then case when p_finding = 'not_expired' then 'fail'::postrider_internal.tree_action else 'check_expiry' end
  when p_tree.succeeded > 0 and p_tree.mode = 'f' then 'succeed'
  when p_waiting = 'expected' and postrider_internal.tree_room(p_tree) > 0 then 'release'
  when p_tree.released > p_tree.finished then 'wait'
  when p_waiting = 'locked' or p_tree.finished < p_tree.children then 'continue_later'
  when p_waiting <> 'none' then 'lock_row'
  when p_tree.failed > 0 and p_finding <> 'not_expired' then 'check_expiry'
  when p_tree.mode = 'f' then 'fail_without_success'
  else 'succeed'
end;
comment on function postrider_internal.next_tree_action(
  postrider_internal.trees, postrider_internal.tree_finding, postrider_internal.waiting_members) is
  'what a batch or chain does next, by its counts, its state and what the last action found';
