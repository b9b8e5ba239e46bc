-- SPDX-License-Identifier: Apache-2.0
-- Without SET, so that PostgreSQL inlines it and finds partial indexes.
create or replace function postrider_internal.is_failure(p_state "char") returns boolean
language sql immutable parallel safe
return p_state in ('f', 'u', 'e');
comment on function postrider_internal.is_failure("char") is
  'whether a job that ended in this state is shown as a failure: failed, unknown or expired';
