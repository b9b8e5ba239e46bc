-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it and can use partial indexes.
create or replace function postrider_internal.is_final_outcome(p_state "char") returns boolean
language sql immutable parallel safe
return p_state in ('s', 'f', 'u');
comment on function postrider_internal.is_final_outcome("char") is
  'whether an attempt with this outcome ends its job: succeeded, failed or unknown';
