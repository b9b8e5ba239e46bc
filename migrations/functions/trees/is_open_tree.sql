-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it and can use partial indexes.
create or replace function postrider_internal.is_open_tree(p_state "char") returns boolean
language sql immutable parallel safe
return p_state in ('w', 'o');
comment on function postrider_internal.is_open_tree("char") is
  'whether a batch or chain in this state is unfinished: waiting or open';
