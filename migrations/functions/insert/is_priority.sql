-- SPDX-License-Identifier: Apache-2.0
-- Has no SET clause, so PostgreSQL inlines it.
create or replace function postrider_internal.is_priority(p_priority int) returns boolean
language sql immutable parallel safe
return p_priority between -100 and 100;
comment on function postrider_internal.is_priority(int) is 'whether a number is a valid priority, from -100 to 100';
