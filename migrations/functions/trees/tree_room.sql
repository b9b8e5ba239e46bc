-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it. One transaction releases at most 10,000 members; the next one releases
-- the rest.
create or replace function postrider_internal.tree_room(p_tree postrider_internal.trees) returns int
language sql immutable parallel safe
return case when p_tree.kind = 'c' then (p_tree.released <= p_tree.finished)::int
            else least(p_tree.max_parallel - (p_tree.released - p_tree.finished), 10000) end;
comment on function postrider_internal.tree_room(postrider_internal.trees) is
  'how many members a batch or chain may release now';
