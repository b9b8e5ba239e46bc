-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it and can use partial indexes.
create or replace function postrider_internal.is_failed_member(p_state "char") returns boolean
language sql immutable parallel safe
return p_state in ('f', 'u', 'e', 'c');
comment on function postrider_internal.is_failed_member("char") is
  'whether a member that ended in this state counts as failed: failed, unknown, expired or cancelled';
