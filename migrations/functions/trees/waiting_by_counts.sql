-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it.
create or replace function postrider_internal.waiting_by_counts(
  p_tree postrider_internal.trees) returns postrider_internal.waiting_members
language sql immutable parallel safe
return case when p_tree.released >= p_tree.children then 'unlikely'::postrider_internal.waiting_members
            else 'expected' end;
comment on function postrider_internal.waiting_by_counts(postrider_internal.trees) is
  'whether members of a batch or chain may wait, by its counts alone';
