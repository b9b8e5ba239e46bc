-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it and can use partial indexes.
create or replace function postrider_internal.is_failure(p_state "char") returns boolean
language sql immutable parallel safe
return p_state in ('f', 'u', 'e');
comment on function postrider_internal.is_failure("char") is
  'whether views show a job in this final state as a failure: failed, unknown or expired';
