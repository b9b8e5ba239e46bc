-- SPDX-License-Identifier: Apache-2.0
-- Without SET, so that PostgreSQL inlines it and finds partial indexes.
create or replace function postrider_internal.is_open_tree(p_state "char") returns boolean
language sql immutable parallel safe
return p_state in ('w', 'o');
comment on function postrider_internal.is_open_tree("char") is
  'whether a batch or chain of this state has not ended: it waits or is open';
